package io.journalq.chaos;

/** The broker cannot be used any more, so that nothing else can be checked. The message is the finding. */
final class BrokerLostException extends Exception {
    private static final long serialVersionUID = 1L;

    BrokerLostException(String finding) {
        super(finding);
    }
}
