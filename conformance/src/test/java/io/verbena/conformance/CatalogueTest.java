// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The catalogue is read in full, and the table tells apart what passed, failed, was skipped or never tried. */
class CatalogueTest {
    private static final String TEXT = """
            # Area
            A-1 M must
            A-2 S should [not here]
            A-3 O may
            """;

    @Test
    void readsLevelsAreasAndNotes() {
        assertThat(Catalogue.parse(TEXT))
                .containsExactly(
                        new Behaviour("A-1", Level.MUST, "Area", "must", ""),
                        new Behaviour("A-2", Level.SHOULD, "Area", "should", "not here"),
                        new Behaviour("A-3", Level.OPTIONAL, "Area", "may", ""));
        assertThat(Catalogue.parse(TEXT))
                .filteredOn(Behaviour::isHeldTo)
                .extracting(Behaviour::id)
                .containsExactly("A-1");
        assertThatThrownBy(() -> Catalogue.parse("A-1 X no level")).hasMessageContaining("A-1 X no level");
    }

    @Test
    void hasEveryLine() {
        assertThat(Catalogue.load()).hasSize(104);
    }

    @Test
    void aLineIsEmptyWhereNothingPassedOrFailed() {
        List<Behaviour> behaviours = Catalogue.parse(TEXT + "A-4 S also\n");
        Results results = new Results();
        assertThat(results.emptyLines(behaviours, "soft")).containsExactly("A-1", "A-4");
        results.add(new Results.Result("A-1", "sim", "t", Outcome.PASSED, ""));
        results.add(new Results.Result("A-4", "soft", "t", Outcome.SKIPPED, "windows"));
        assertThat(results.emptyLines(behaviours, "soft")).containsExactly("A-1", "A-4");
        results.add(new Results.Result("A-1", "soft", "t", Outcome.FAILED, "wrong"));
        results.add(new Results.Result("A-4", "soft", "t", Outcome.PASSED, ""));
        assertThat(results.emptyLines(behaviours, "soft")).isEmpty();
    }

    @Test
    void cellsSayTheWorst() {
        Behaviour behaviour = new Behaviour("A-1", Level.MUST, "Area", "must", "");
        Results results = new Results();
        assertThat(results.cell(behaviour, "soft")).isEqualTo("no");
        results.add(new Results.Result("A-1", "soft", "t", Outcome.SKIPPED, "windows"));
        assertThat(results.cell(behaviour, "soft")).isEqualTo("no: windows");
        results.add(new Results.Result("A-1", "soft", "t", Outcome.PASSED, ""));
        assertThat(results.cell(behaviour, "soft")).isEqualTo("yes, without windows");
        assertThat(Report.markdown(List.of(behaviour), List.of("soft"), results))
                .contains("| A-1 | M | must | yes, without windows | not yet |");
        results.add(new Results.Result("A-1", "soft", "t", Outcome.FAILED, "wrong"));
        assertThat(results.cell(behaviour, "soft")).isEqualTo("FAILS");
        assertThat(results.cell(behaviour, "sim")).isEqualTo("no");
        assertThat(results.toTsv().lines()).hasSize(4).first().isEqualTo("id\tprovider\ttest\toutcome\treason");
    }
}
