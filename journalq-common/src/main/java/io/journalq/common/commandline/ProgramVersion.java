package io.journalq.common.commandline;

import picocli.CommandLine.IVersionProvider;

/** Returns the version from the manifest of the jar. Stateless. */
public final class ProgramVersion implements IVersionProvider {
    @Override
    public String[] getVersion() {
        String version = ProgramVersion.class.getPackage().getImplementationVersion();
        return new String[] {"JournalQ " + (version == null ? "(not packaged)" : version), "Java " + Runtime.version()};
    }
}
