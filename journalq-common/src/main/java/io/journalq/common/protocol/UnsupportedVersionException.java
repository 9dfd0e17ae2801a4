package io.journalq.common.protocol;

/**
 * A message cannot be read or written at a version: the schema lacks the version, or a field that must not be dropped
 * holds a value which that version cannot carry. The caller is at fault, who picks the version and fills in the fields;
 * versions that come from a wire are compared with {@link ApiKey#hasVersion} first.
 */
public final class UnsupportedVersionException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UnsupportedVersionException(String message) {
        super(message);
    }

    /** For generated code: refuses a version outside the schema's. */
    public static void check(String message, short version, short lowest, short highest) {
        if (version < lowest || version > highest) {
            throw new UnsupportedVersionException(
                    message + " has versions " + lowest + " to " + highest + ", not " + version);
        }
    }

    /** For generated code: a value that this version has no place for. */
    public static UnsupportedVersionException missingField(String struct, String field, short version) {
        return new UnsupportedVersionException(
                struct + "." + field + " holds a value, and version " + version + " has no place for it");
    }

    /** For generated code: null where this version has no null. */
    public static UnsupportedVersionException nullField(String struct, String field, short version) {
        return new UnsupportedVersionException(struct + "." + field + " is null, which version " + version + " lacks");
    }
}
