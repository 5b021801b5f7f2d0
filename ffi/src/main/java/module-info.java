/**
 * Calls into the operating system through the Foreign Function and Memory API: the only module that needs native access
 * ({@code --enable-native-access=verbena.ffi}). Everything above works without it, with less.
 */
module verbena.ffi {
    requires static org.jspecify;

    exports io.verbena.ffi;
}
