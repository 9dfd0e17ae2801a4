package io.journalq.cli.keys;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.common.file.FileProblem;
import io.journalq.seal.SealPolicy;
import io.journalq.seal.SubjectKeys;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code journalq keys subjects}. */
@Command(
        name = "subjects",
        description = "Makes a directory for the keys of subjects, which the senders and consumers of topics of mode"
                + " subject share.",
        footerHeading = "%nExamples:%n",
        footer = "  journalq keys subjects --subjects dir --passphrase-file pw")
final class SubjectsCommand extends ClientCommand {
    @Mixin
    private SubjectOptions subjects;

    @Override
    protected void execute() {
        try {
            SubjectKeys.create(subjects.directory(), SealPolicy.passphrase(subjects.passphraseFile()));
        } catch (FileAlreadyExistsException exists) {
            throw new CommandFailure(subjects.directory() + " exists");
        } catch (IOException unusable) {
            throw new CommandFailure(FileProblem.message(unusable));
        }
        report(
                "directory " + subjects.directory() + " created",
                Map.of("subjects", subjects.directory().toString()));
    }
}
