package io.journalq.server.security.sasl;

import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** How clients of a listener of HTTP log in. Any thread. */
public interface HttpLogins {
    /** The schemes that are accepted. */
    List<HttpScheme> schemes();

    /**
     * Checks the header {@code Authorization} of a request, and audits a refusal.
     *
     * @throws java.util.concurrent.RejectedExecutionException when it is not checked; the message says why
     */
    CompletionStage<HttpLogin> check(String authorization, SocketAddress client);
}
