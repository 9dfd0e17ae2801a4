package io.journalq.cli.journal;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.server.directory.DataLocks;
import io.journalq.server.journal.JournalCheck;
import io.journalq.server.journal.JournalFinding;
import io.journalq.server.journal.WalReplay;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq journal repair}. */
@Command(
        name = "repair",
        description = {
            "Shows how to repair a data directory, or one journal in it. With --execute, repairs it.",
            "Nothing is deleted: truncated parts of segments and unreadable files are moved to another directory."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq journal repair data",
            "  journalq journal repair data --execute --aside /var/tmp/journalq-aside"
        })
final class RepairCommand extends ClientCommand {
    @Parameters(paramLabel = "DIR", description = "A data directory, or one journal in it.")
    private Path directory;

    @Option(names = "--execute", description = "Applies the changes. Without this option, nothing is changed.")
    private boolean execute;

    @Option(
            names = "--aside",
            paramLabel = "DIRECTORY",
            description = "Where to move removed data (default: the data directory with the suffix .aside).")
    private Path aside;

    @Override
    protected void execute() throws IOException {
        FileStore store = new SystemFileStore();
        JournalDirectory opened = JournalDirectory.open(store, directory);
        Path to = aside != null
                ? aside.toAbsolutePath().normalize()
                : opened.dataDirectory().resolveSibling(opened.dataDirectory().getFileName() + ".aside");
        if (to.startsWith(opened.dataDirectory())) {
            throw wrongUsage("--aside must be outside the data directory " + opened.dataDirectory());
        }
        Set<RepairStep> steps;
        if (execute) {
            DataLocks held = lock(opened);
            try {
                // Otherwise the next start would overwrite what is repaired here.
                WalReplay.run(store, opened.dataDirectory());
                steps = plan(store, opened, to);
                run(steps, store);
            } finally {
                held.close();
            }
        } else {
            steps = plan(store, opened, to);
            String pendingRedo = opened.pendingRedo(store);
            if (pendingRedo != null) {
                terminal().tell(pendingRedo + "; --execute does this first.");
            }
        }
        show(steps);
        long beyondRepair = steps.stream().filter(RepairStep::isBeyondRepair).count();
        if (execute && beyondRepair > 0) {
            terminal().flush();
            throw new CommandFailure(Quantity.count(beyondRepair, "file") + " cannot be repaired; restore "
                    + (beyondRepair == 1 ? "it" : "them") + " from a backup");
        }
    }

    /** Executes the steps. If one fails, shows those before it, which have changed files. */
    private void run(Set<RepairStep> steps, FileStore store) {
        Set<RepairStep> done = new LinkedHashSet<>();
        for (RepairStep step : steps) {
            try {
                step.run(store);
            } catch (IOException failed) {
                if (!done.isEmpty()) {
                    show(done);
                    terminal().flush();
                }
                throw new CommandFailure("cannot repair " + step.file() + ": " + failed + "; "
                        + (done.stream().anyMatch(RepairStep::changes)
                                ? "only what is listed was repaired"
                                : "nothing was repaired")
                        + "; remove the cause, and run the command again");
            }
            done.add(step);
        }
    }

    private static DataLocks lock(JournalDirectory opened) {
        try {
            return DataLocks.acquire(List.of(opened.dataDirectory()));
        } catch (IOException refused) {
            throw new CommandFailure(refused.getMessage());
        }
    }

    private Set<RepairStep> plan(FileStore store, JournalDirectory opened, Path to) throws IOException {
        Set<RepairStep> steps = new LinkedHashSet<>();
        for (Path journal : opened.journals()) {
            terminal().showProgress("reading " + journal);
            Path target = to.resolve(String.valueOf(journal.getFileName()));
            List<JournalFinding> findings = JournalCheck.run(store, journal).findings();
            boolean metadata = JournalDirectory.METADATA.equals(String.valueOf(journal.getFileName()));
            for (JournalFinding finding : findings) {
                boolean bad = finding.kind() == JournalFinding.Kind.BAD_STRETCH
                        || finding.kind() == JournalFinding.Kind.TORN_TAIL;
                if (metadata && bad) {
                    steps.addAll(goBackTo(finding, store, journal, target));
                    break;
                }
                steps.add(RepairStep.of(finding, target));
            }
        }
        terminal().endProgress();
        return steps;
    }

    /**
     * After a damaged change of the metadata, nothing can be used. It is moved aside together with all later changes
     * and the files that depend on them.
     */
    private static List<RepairStep> goBackTo(JournalFinding damage, FileStore store, Path journal, Path target)
            throws IOException {
        String why = "the metadata is reset to the state before this: " + damage.what()
                + "; later changes are lost, and the directories of topics created since then have no topic";
        List<RepairStep> steps = new ArrayList<>();
        steps.add(RepairStep.cut(damage, store.sizeBytes(damage.file()), target, why));
        for (String name : store.list(journal)) {
            Path file = journal.resolve(name);
            boolean later = JournalCheck.baseOffsetOf(file) > JournalCheck.baseOffsetOf(damage.file());
            if (name.equals(JournalCheck.CHECKPOINT_FILE_NAME) || (later && !name.endsWith(".snapshot"))) {
                steps.add(RepairStep.move(file, target, why));
            }
        }
        return steps;
    }

    private void show(Set<RepairStep> steps) {
        long changes = steps.stream().filter(RepairStep::changes).count();
        if (wantsJson()) {
            List<Object> json = new ArrayList<>();
            for (RepairStep step : steps) {
                Map<String, Object> one = new LinkedHashMap<>();
                one.put("file", step.file());
                one.put("changes", step.changes());
                one.put("executed", execute && step.changes());
                one.put("what", step.toString());
                json.add(one);
            }
            terminal().printLine(Json.document(json));
        } else if (steps.isEmpty()) {
            terminal().printLine("no damage found in " + directory);
        } else {
            steps.forEach(step -> terminal().printLine(step.toString()));
        }
        if (changes > 0) {
            terminal()
                    .tell(
                            execute
                                    ? Quantity.count(changes, "change") + " made."
                                    : Quantity.count(changes, "change")
                                            + " to make. Nothing was changed. To apply the changes, add --execute.");
        }
    }
}
