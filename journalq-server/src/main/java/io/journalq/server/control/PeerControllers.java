package io.journalq.server.control;

/** The controllers of the other brokers of a cluster. Any thread. */
public interface PeerControllers {
    /** For a broker that is the only voter of its quorum. */
    PeerControllers NONE = new PeerControllers() {
        @Override
        public void offer(ControllerOperations local) {}

        @Override
        public ControllerOperations of(int nodeId) {
            return null;
        }
    };

    /** Lets the other brokers reach the controller of this one. */
    void offer(ControllerOperations local);

    /**
     * The controller of another broker; null if that broker is not known. Its futures fail with a
     * {@link NotControllerException} if it cannot be reached, does not respond in time, or is not the active one.
     */
    ControllerOperations of(int nodeId);
}
