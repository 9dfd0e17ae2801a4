package io.journalq.client.admin;

import static io.journalq.client.internal.check.Arguments.notNull;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * A user who logs in with a password. Brokers do not return the keys of the password. Immutable.
 *
 * @param iterations of the hash that makes the keys, by the mechanism, such as {@code SCRAM-SHA-256}
 */
public record UserDescription(String name, Map<String, Integer> iterations) {
    public UserDescription {
        notNull(name, "name");
        iterations = Collections.unmodifiableMap(new TreeMap<>(notNull(iterations, "iterations")));
    }
}
