package io.journalq.server.cli;

import io.journalq.client.Admin;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command of {@link JournalqCommand} that does something. Lives for one run, on the main thread. */
abstract class ClientCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    /** Does it; whatever goes wrong is thrown. */
    abstract void execute() throws Exception;

    @Override
    public final Integer call() throws Exception {
        execute();
        return ExitCode.DONE;
    }

    final JournalqCommand program() {
        return (JournalqCommand) spec.root().userObject();
    }

    final Terminal terminal() {
        return program().terminal();
    }

    final Admin openAdmin() {
        return program().openAdmin();
    }

    final boolean wantsJson() {
        return program().wantsJson();
    }

    /** What to throw when options contradict each other. */
    final ParameterException wrongUsage(String why) {
        return new ParameterException(spec.commandLine(), why);
    }

    /** Shows the result of a command that changed something. */
    final void report(String sentence, Object json) {
        terminal().printLine(wantsJson() ? Json.document(json) : sentence);
    }
}
