package io.journalq.server.metadata.security;

import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.metadata.index.SortedIndex;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/** The credentials of all users, at most one of each user for each mechanism. Immutable, any thread. */
public final class ScramImage {
    /** No users. */
    public static final ScramImage NONE = new ScramImage(SortedIndex.by(ScramUser::name));

    /** Maximum length of the name of a user. */
    public static final int MAX_NAME_LENGTH = 255;

    private final SortedIndex<String, ScramUser> users;

    /**
     * A user.
     *
     * @param credentials by mechanism, at least one
     */
    public record ScramUser(String name, Map<ScramMechanism, ScramCredential> credentials) {}

    private ScramImage(SortedIndex<String, ScramUser> users) {
        this.users = users;
    }

    /** Why a user cannot have this name; null if it can. */
    public static String nameProblem(String name) {
        if (name.isEmpty()) {
            return "the name of a user must not be empty";
        }
        if (name.length() > MAX_NAME_LENGTH) {
            return "the name of a user must have at most " + MAX_NAME_LENGTH + " characters";
        }
        return name.chars().anyMatch(Character::isISOControl)
                ? "the name of a user must not contain control characters"
                : null;
    }

    /** All users, by name. */
    public Collection<ScramUser> users() {
        return users;
    }

    /** The credentials of a user, by mechanism; empty if there are none. */
    public Map<ScramMechanism, ScramCredential> of(String user) {
        ScramUser found = users.find(user);
        return found == null ? Map.of() : found.credentials();
    }

    /** The credential of a user for a mechanism; null if there is none. */
    public ScramCredential find(String user, ScramMechanism mechanism) {
        return of(user).get(mechanism);
    }

    /** A copy with a credential, which replaces that of the same user and mechanism. */
    public ScramImage with(String user, ScramCredential credential) {
        Map<ScramMechanism, ScramCredential> credentials = copyOf(user);
        credentials.put(credential.mechanism(), credential);
        return with(user, credentials);
    }

    /** A copy without the credential of a user for a mechanism. A user without credentials is no user. */
    public ScramImage without(String user, ScramMechanism mechanism) {
        Map<ScramMechanism, ScramCredential> credentials = copyOf(user);
        return credentials.remove(mechanism) == null ? this : with(user, credentials);
    }

    private Map<ScramMechanism, ScramCredential> copyOf(String user) {
        Map<ScramMechanism, ScramCredential> credentials = new EnumMap<>(ScramMechanism.class);
        credentials.putAll(of(user));
        return credentials;
    }

    private ScramImage with(String user, Map<ScramMechanism, ScramCredential> credentials) {
        return new ScramImage(
                credentials.isEmpty()
                        ? users.without(user)
                        : users.with(new ScramUser(user, Collections.unmodifiableMap(credentials))));
    }
}
