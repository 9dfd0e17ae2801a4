package io.journalq.codegen;

/** A schema that the generator cannot turn into code; the message names the file and the field. */
final class SchemaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    SchemaException(String message) {
        super(message);
    }
}
