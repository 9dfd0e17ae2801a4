package io.journalq.cli.journal;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Table;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.server.control.StoredTopicNames;
import io.journalq.server.journal.JournalCheck;
import io.journalq.server.journal.JournalFinding;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code journalq journal verify}. */
@Command(
        name = "verify",
        description = {
            "Reads all segments, indexes, snapshots and checkpoints of a data directory or journal, and verifies"
                    + " names, sizes, offsets and CRCs. Changes nothing.",
            "The names of topics come from the metadata log of the same data directory.",
            "Exits with 1 if there are findings. Each finding states file and position."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  journalq journal verify data", "  journalq journal verify data/metadata --output json"})
final class VerifyCommand extends ClientCommand {
    static final Pattern PARTITION_DIRECTORY = Pattern.compile("([A-Za-z0-9_-]{22})-(\\d{1,9})");

    @Parameters(paramLabel = "DIR", description = "A data directory, or one journal in it.")
    private Path directory;

    @Override
    protected void execute() throws IOException {
        FileStore store = new SystemFileStore();
        JournalDirectory opened = JournalDirectory.open(store, directory);
        List<JournalCheck.Report> reports = new ArrayList<>();
        for (Path journal : opened.journals()) {
            terminal().showProgress("reading " + journal);
            reports.add(JournalCheck.run(store, journal));
        }
        terminal().endProgress();
        Map<Uuid, String> topics =
                StoredTopicNames.read(store, opened.dataDirectory().resolve(JournalDirectory.METADATA));
        int findings =
                reports.stream().mapToInt(report -> report.findings().size()).sum();
        if (wantsJson()) {
            terminal()
                    .printLine(Json.document(reports.stream()
                            .map(report -> jsonOf(report, partitionOf(report, topics)))
                            .toList()));
        } else {
            print(opened, reports, topics);
        }
        String pendingRedo = opened.pendingRedo(store);
        if (pendingRedo != null) {
            terminal().tell(pendingRedo + "; this may repair what is found here.");
        }
        if (findings > 0) {
            terminal().flush();
            throw new CommandFailure(Quantity.count(findings, "finding")
                    + "; to list the repairs, run bin/journalq journal" + " repair " + directory);
        }
    }

    /**
     * Returns the topic and partition of a journal, whose directory is named by id and number. Returns null for the
     * metadata log, and if the metadata log does not know the topic.
     */
    private static TopicPartition partitionOf(JournalCheck.Report report, Map<Uuid, String> topics) {
        Matcher matcher =
                PARTITION_DIRECTORY.matcher(String.valueOf(report.directory().getFileName()));
        if (!matcher.matches()) {
            return null;
        }
        String topic = topics.get(Uuid.parse(matcher.group(1)));
        return topic == null ? null : new TopicPartition(topic, Integer.parseInt(matcher.group(2)));
    }

    private void print(JournalDirectory opened, List<JournalCheck.Report> reports, Map<Uuid, String> topics) {
        Table table = new Table(
                "TOPIC", "PARTITION", "SEGMENTS", "BATCHES", "RECORDS", "FIRST", "END", "SIZE", "FINDINGS", "JOURNAL");
        for (JournalCheck.Report report : reports) {
            Path name = report.directory().getFileName();
            TopicPartition partition = partitionOf(report, topics);
            table.row(
                    partition == null ? null : partition.topic(),
                    partition == null ? null : partition.partition(),
                    report.segments(),
                    report.batches(),
                    report.records(),
                    report.startOffset(),
                    report.endOffset(),
                    Quantity.size(report.sizeBytes()),
                    report.findings().size(),
                    name == null ? opened.path() : name);
        }
        table.printTo(terminal());
        reports.forEach(
                report -> report.findings().forEach(finding -> terminal().printLine(finding.toString())));
    }

    private static Map<String, Object> jsonOf(JournalCheck.Report report, TopicPartition partition) {
        List<Object> findings = new ArrayList<>();
        for (JournalFinding found : report.findings()) {
            Map<String, Object> finding = new LinkedHashMap<>();
            finding.put("file", found.file());
            finding.put("position", found.position());
            finding.put("endPosition", found.endPosition());
            finding.put("kind", found.kind().name().toLowerCase(Locale.ROOT));
            finding.put("what", found.what());
            findings.add(finding);
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("journal", report.directory());
        json.put("topic", partition == null ? null : partition.topic());
        json.put("partition", partition == null ? null : partition.partition());
        json.put("segments", report.segments());
        json.put("batches", report.batches());
        json.put("records", report.records());
        json.put("startOffset", report.startOffset());
        json.put("endOffset", report.endOffset());
        json.put("sizeBytes", report.sizeBytes());
        json.put("findings", findings);
        return json;
    }
}
