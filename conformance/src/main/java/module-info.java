/** What a provider of verbs is held to: the catalogue of behaviours and the table of what a run of the suite found. */
module verbena.conformance {
    requires static org.jspecify;

    exports io.verbena.conformance;
}
