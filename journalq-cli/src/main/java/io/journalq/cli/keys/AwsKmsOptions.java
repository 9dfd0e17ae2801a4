package io.journalq.cli.keys;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.common.file.FileProblem;
import io.journalq.seal.AwsKms;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;

/** AWS KMS, if it has the key of a role. For one run. */
final class AwsKmsOptions {
    @Option(
            names = "--aws-region",
            paramLabel = "REGION",
            description = "Region of AWS whose KMS has the key of the role: an RSA key that decrypts by"
                    + " RSAES_OAEP_SHA_256, with the alias PREFIX/ROLE/GENERATION. It never leaves AWS KMS.")
    private String region;

    @Option(
            names = "--aws-alias-prefix",
            paramLabel = "PREFIX",
            defaultValue = "alias/journalq/",
            description = "What precedes ROLE/GENERATION in the alias of the key (default: ${DEFAULT-VALUE}).")
    private String aliasPrefix;

    @Option(
            names = "--aws-credentials-file",
            paramLabel = "FILE",
            description = "File with credentials for AWS, in the form of the tools of AWS (default: the environment"
                    + " variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or those of the container).")
    private Path credentials;

    @Option(
            names = "--aws-profile",
            paramLabel = "NAME",
            defaultValue = AwsKms.DEFAULT_PROFILE,
            description = "Section of --aws-credentials-file (default: ${DEFAULT-VALUE}).")
    private String profile;

    @Option(
            names = "--aws-endpoint",
            paramLabel = "URL",
            description = "Address of AWS KMS, such as that of a VPC endpoint (default: that of the region).")
    private URI endpoint;

    /** Whether the key is in AWS KMS. */
    boolean isGiven() {
        return region != null;
    }

    /** The public key of a generation of a role. */
    byte[] publicKey(String role, int generation) {
        try {
            AwsKms.Builder builder =
                    AwsKms.builder(region).aliasPrefix(aliasPrefix).roles(List.of(role));
            if (credentials != null) {
                builder.credentials(credentials, profile);
            }
            return (endpoint == null ? builder : builder.endpoint(endpoint))
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
