package io.journalq.server.security.sasl;

import java.util.concurrent.CompletionStage;

/** One attempt of a client to prove who it is. The caller passes one message at a time. */
public interface SaslExchange {
    /**
     * Takes the next message of the client.
     *
     * @return completed at once, unless the step is too expensive for the thread of the caller
     * @throws java.util.concurrent.RejectedExecutionException when too many expensive steps wait
     */
    CompletionStage<SaslStep> next(byte[] message);
}
