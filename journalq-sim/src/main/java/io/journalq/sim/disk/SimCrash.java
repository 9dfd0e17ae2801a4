package io.journalq.sim.disk;

/**
 * The simulated process is gone: unwinds what it was doing. An error, so that no handler of operating errors keeps it.
 */
public final class SimCrash extends Error {
    private static final long serialVersionUID = 1L;

    /** The process has crashed. */
    public SimCrash() {
        super("the simulated process has crashed", null, false, false);
    }
}
