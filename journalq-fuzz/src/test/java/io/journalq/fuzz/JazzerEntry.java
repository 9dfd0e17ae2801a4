package io.journalq.fuzz;

/** Where the fuzzer enters. Its process runs one target, which the property {@link #TARGET} names. */
public final class JazzerEntry {
    static final String TARGET = "journalq.fuzz.target";

    private static FuzzTarget target;

    private JazzerEntry() {}

    /** Called by the fuzzer once. */
    public static void fuzzerInitialize() {
        target = FuzzTargets.named(System.getProperty(TARGET));
    }

    /** Called by the fuzzer for each input. */
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        Measured.run(target, input);
    }
}
