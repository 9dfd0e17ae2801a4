package io.journalq.seal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Files and directories that only their owner can read and change. File systems without POSIX permissions, as on Windows,
 * are refused, because nobody could tell who else can read what is there.
 */
final class OwnerOnly {
    private static final String OF_FILES = "rw-------";
    private static final String OF_DIRECTORIES = "rwx------";

    private OwnerOnly() {}

    /**
     * Creates an empty file.
     *
     * @throws java.nio.file.FileAlreadyExistsException if there is something at this place
     */
    static void createFile(Path file) throws IOException {
        requirePermissions(file, file.toAbsolutePath().getParent());
        Files.createFile(file, attribute(OF_FILES));
    }

    /**
     * Creates a directory.
     *
     * @throws java.nio.file.FileAlreadyExistsException if there is something at this place
     */
    static void createDirectory(Path directory) throws IOException {
        requirePermissions(directory, directory.toAbsolutePath().getParent());
        Files.createDirectory(directory, attribute(OF_DIRECTORIES));
    }

    /** Refuses a file that others can read or change. */
    static void checkFile(Path file) throws IOException {
        check(file, OF_FILES, "600");
    }

    /** Refuses a directory that others can read or change. */
    static void checkDirectory(Path directory) throws IOException {
        check(directory, OF_DIRECTORIES, "700");
    }

    private static void check(Path path, String allowed, String mode) throws IOException {
        requirePermissions(path, path);
        if (!PosixFilePermissions.fromString(allowed).containsAll(Files.getPosixFilePermissions(path))) {
            throw new IOException(path + " may be read by others; run chmod " + mode + " " + path);
        }
    }

    /** @param existing is on the same file system as {@code path} */
    private static void requirePermissions(Path path, Path existing) throws IOException {
        if (!Files.getFileStore(existing).supportsFileAttributeView(PosixFileAttributeView.class)) {
            throw new IOException(
                    path + " cannot be kept from others, because its file system has no POSIX permissions; use one that"
                            + " has them");
        }
    }

    private static FileAttribute<Set<PosixFilePermission>> attribute(String permissions) {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions));
    }
}
