/** Datagram links: frames in and out of ordinary UDP sockets, with decorators that capture or damage them. */
module verbena.link {
    requires transitive verbena.wire;
    requires verbena.ffi;
    requires jdk.net;
    requires static org.jspecify;

    exports io.verbena.link;
}
