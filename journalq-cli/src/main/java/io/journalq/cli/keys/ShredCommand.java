package io.journalq.cli.keys;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.common.file.FileProblem;
import io.journalq.seal.SealPolicy;
import io.journalq.seal.SubjectKeys;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq keys shred}. */
@Command(
        name = "shred",
        description =
                "Shows whether a subject has a key; --execute destroys the key for ever. Nobody can read its records any"
                        + " more, not even those in backups of brokers, and nobody can send more. Clients can remember"
                        + " the key for 5 minutes.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq keys shred patients 42 --subjects dir --passphrase-file pw",
            "  journalq keys shred patients 42 --subjects dir --passphrase-file pw --execute"
        })
final class ShredCommand extends ClientCommand {
    @Parameters(index = "0", paramLabel = "TOPIC", description = "Name of the topic.")
    private String topic;

    @Parameters(index = "1", paramLabel = "KEY", description = "Key of the records of the subject.")
    private String key;

    @Option(names = "--execute", description = "Destroys the key. Without this option, nothing is changed.")
    private boolean execute;

    @Mixin
    private SubjectOptions subjects;

    @Override
    protected void execute() {
        SubjectKeys.State before;
        try {
            SubjectKeys keys = SubjectKeys.open(subjects.directory(), SealPolicy.passphrase(subjects.passphraseFile()));
            byte[] subject = key.getBytes(StandardCharsets.UTF_8);
            before = keys.state(topic, subject);
            if (execute && keys.shred(topic, subject)) {
                // A sender can make the key after the first look.
                before = SubjectKeys.State.PRESENT;
            }
        } catch (IOException unusable) {
            throw new CommandFailure(FileProblem.message(unusable));
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("topic", topic);
        json.put("before", before.name().toLowerCase(Locale.ROOT));
        json.put("executed", execute);
        report(message(before), json);
        if (!execute) {
            terminal().tell("Nothing was changed. To destroy the key, add --execute.");
        }
    }

    private String message(SubjectKeys.State before) {
        return switch (before) {
            case PRESENT -> execute ? "key of the subject destroyed" : "the subject has a key in topic " + topic;
            case DESTROYED -> "the key of the subject in topic " + topic + " was destroyed before";
            case NONE -> "the subject has no key in topic " + topic + (execute ? ", and gets none any more" : "");
        };
    }
}
