package io.journalq.cli.keys;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.common.file.FileProblem;
import io.journalq.seal.VaultTransit;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;

/** The Transit engine of Vault that has the key of a role. For one run. */
final class TransitOptions {
    @Option(
            names = "--vault",
            paramLabel = "URL",
            description =
                    "Address of HashiCorp Vault, whose Transit engine has the key of the role: an RSA key with the"
                            + " name of the role, in the version of the generation. It never leaves Vault.")
    private URI address;

    @Option(names = "--vault-token-file", paramLabel = "FILE", description = "File with the token for --vault.")
    private Path tokenFile;

    @Option(
            names = "--vault-mount",
            paramLabel = "PATH",
            defaultValue = "transit",
            description = "Mount of the Transit engine (default: ${DEFAULT-VALUE}).")
    private String mount;

    @Option(
            names = "--vault-namespace",
            paramLabel = "NAME",
            description = "Namespace of Vault Enterprise (default: none).")
    private String namespace;

    @Option(
            names = "--vault-ca",
            paramLabel = "FILE",
            description = "PEM file with the authorities that sign the certificate of Vault (default: those of Java).")
    private Path authorities;

    /** Whether the key is in Vault. */
    boolean isGiven() {
        return address != null;
    }

    /** The public key of a generation of a role. */
    byte[] publicKey(String role, int generation) {
        if (tokenFile == null) {
            throw new CommandFailure("--vault needs --vault-token-file");
        }
        try {
            VaultTransit.Builder builder = VaultTransit.builder(address)
                    .mount(mount)
                    .namespace(namespace)
                    .tokenFile(tokenFile)
                    .roles(List.of(role));
            return (authorities == null ? builder : builder.authorities(authorities))
                    .build()
                    .find(role, generation)
                    .publicKey();
        } catch (IOException refused) {
            throw new CommandFailure(FileProblem.message(refused));
        } catch (IllegalArgumentException refused) {
            throw new CommandFailure(refused.getMessage());
        }
    }
}
