package io.journalq.server.api;

import io.journalq.server.security.sasl.SaslMechanisms;
import java.util.Map;

/**
 * Which listeners require a login by SASL. Immutable, any thread.
 *
 * @param byListener the mechanisms of each listener that requires one, by its name
 * @param sessionLifetimeMs after this time, a client must log in again; 0 if it need not
 */
public record LoginRules(Map<String, SaslMechanisms> byListener, long sessionLifetimeMs) {
    /** No listener requires a login. */
    public static final LoginRules NONE = new LoginRules(Map.of(), 0);

    public LoginRules {
        byListener = Map.copyOf(byListener);
    }
}
