package io.journalq.cli.journal;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Table;
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
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code journalq journal verify}. */
@Command(
        name = "verify",
        description = {
            "Reads all segments, indexes, snapshots and checkpoints of a data directory or journal, and verifies"
                    + " names, sizes, offsets and CRCs. Changes nothing.",
            "Exits with 1 if there are findings. Each finding states file and position."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  journalq journal verify data", "  journalq journal verify data/metadata --output json"})
final class VerifyCommand extends ClientCommand {
    @Parameters(paramLabel = "DIR", description = "A data directory, or one journal in it.")
    private Path directory;

    @Override
    protected void execute() throws IOException {
        FileStore store = new SystemFileStore();
        JournalFolder folder = JournalFolder.open(store, directory);
        List<JournalCheck.Report> reports = new ArrayList<>();
        for (Path journal : folder.journals()) {
            terminal().showProgress("reading " + journal);
            reports.add(JournalCheck.run(store, journal));
        }
        terminal().endProgress();
        int findings =
                reports.stream().mapToInt(report -> report.findings().size()).sum();
        if (wantsJson()) {
            terminal()
                    .printLine(Json.document(
                            reports.stream().map(VerifyCommand::jsonOf).toList()));
        } else {
            print(folder, reports);
        }
        String pendingRedo = folder.pendingRedo(store);
        if (pendingRedo != null) {
            terminal().tell(pendingRedo + "; this may repair what is found here.");
        }
        if (findings > 0) {
            terminal().flush();
            throw new CommandFailure(Quantity.count(findings, "finding")
                    + "; to list the repairs, run bin/journalq journal" + " repair " + directory);
        }
    }

    private void print(JournalFolder folder, List<JournalCheck.Report> reports) {
        Table table = new Table("JOURNAL", "SEGMENTS", "BATCHES", "RECORDS", "FIRST", "END", "SIZE", "FINDINGS");
        for (JournalCheck.Report report : reports) {
            Path name = report.directory().getFileName();
            table.row(
                    name == null ? folder.path() : name,
                    report.segments(),
                    report.batches(),
                    report.records(),
                    report.startOffset(),
                    report.endOffset(),
                    Quantity.size(report.sizeBytes()),
                    report.findings().size());
        }
        table.printTo(terminal());
        reports.forEach(
                report -> report.findings().forEach(finding -> terminal().printLine(finding.toString())));
    }

    private static Map<String, Object> jsonOf(JournalCheck.Report report) {
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
