package io.journalq.cli.keys;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The directory with the keys of subjects. For one run. */
final class SubjectOptions {
    @Option(
            names = "--subjects",
            paramLabel = "DIR",
            required = true,
            description = "Directory with the keys of subjects.")
    private Path directory;

    @Option(
            names = "--passphrase-file",
            paramLabel = "FILE",
            required = true,
            description = "File with the passphrase that encrypts these keys.")
    private Path passphraseFile;

    Path directory() {
        return directory;
    }

    Path passphraseFile() {
        return passphraseFile;
    }
}
