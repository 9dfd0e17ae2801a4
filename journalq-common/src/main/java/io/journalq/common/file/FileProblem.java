package io.journalq.common.file;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/**
 * Says in words why a file cannot be used. The messages of several exceptions do not: that of a file without permission
 * is only its name. Stateless.
 */
public final class FileProblem {
    private FileProblem() {}

    /** The reason, for a message that names the file. */
    public static String reason(IOException failure) {
        if (failure instanceof NoSuchFileException) {
            return "there is no such file";
        }
        if (failure instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (failure instanceof CharacterCodingException) {
            return "it is not text in UTF-8";
        }
        return failure instanceof FileSystemException ofFile && ofFile.getReason() != null
                ? ofFile.getReason()
                : failure.getMessage();
    }

    /** The file, as far as the failure names it, and the reason. */
    public static String message(IOException failure) {
        if (failure instanceof NoSuchFileException missing) {
            return missing.getFile() + " does not exist";
        }
        return failure instanceof FileSystemException ofFile
                ? ofFile.getFile() + ": " + reason(failure)
                : reason(failure);
    }
}
