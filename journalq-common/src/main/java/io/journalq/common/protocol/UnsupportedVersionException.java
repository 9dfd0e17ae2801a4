package io.journalq.common.protocol;

/**
 * A message cannot be read or written in a version: the schema does not have the version, or the version cannot
 * represent a field that is set and must not be dropped. This is an error of the caller, which chooses the version and
 * sets the fields. Versions from the network are checked with {@link ApiKey#hasVersion} first.
 */
public final class UnsupportedVersionException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UnsupportedVersionException(String message) {
        super(message);
    }

    /** For generated code: throws if the schema does not have the version. */
    public static void check(String message, short version, short lowest, short highest) {
        if (version < lowest || version > highest) {
            throw new UnsupportedVersionException(
                    message + " has versions " + lowest + " to " + highest + ", not " + version);
        }
    }

    /** For generated code: a field is set that the version does not have. */
    public static UnsupportedVersionException missingField(String struct, String field, short version) {
        return new UnsupportedVersionException(
                struct + "." + field + " is set, but version " + version + " does not have it");
    }

    /** For generated code: a field is null that must not be null in this version. */
    public static UnsupportedVersionException nullField(String struct, String field, short version) {
        return new UnsupportedVersionException(
                struct + "." + field + " is null, but must not be in version " + version);
    }
}
