package io.journalq.cli.shell;

import io.journalq.client.Admin;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command of {@code bin/journalq} that performs an action. Used for one run, on the main thread. */
public abstract class ClientCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    /** Performs the action. Errors are thrown. */
    protected abstract void execute() throws Exception;

    @Override
    public final Integer call() throws Exception {
        execute();
        return ExitCode.DONE;
    }

    public final ClientProgram program() {
        return (ClientProgram) spec.root().userObject();
    }

    public final Terminal terminal() {
        return program().terminal();
    }

    public final Admin openAdmin() {
        return program().openAdmin();
    }

    public final boolean wantsJson() {
        return program().wantsJson();
    }

    /** Returns the exception for contradicting options. */
    public final ParameterException wrongUsage(String why) {
        return new ParameterException(spec.commandLine(), why);
    }

    /** Prints the result of a command that changed something. The sentence can contain texts of others. */
    public final void report(String sentence, Object json) {
        terminal().printLine(wantsJson() ? Json.document(json) : Terminal.printable(sentence));
    }
}
