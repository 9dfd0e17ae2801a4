package io.journalq.seal;

import java.io.IOException;

/**
 * Keys of roles that are not in a {@link KeyVault}, such as those of a key management service. Any thread.
 *
 * <p>{@link VaultTransit} and {@link AwsKms} are two. For another service, return {@link RsaRoleKey#remote} with the decryption of the
 * service: RSA-OAEP with SHA-256.
 */
@FunctionalInterface
public interface RoleKeySource {
    /**
     * Finds the key of a generation of a role. Called when a consumer meets an epoch that it does not know. May block.
     *
     * @return null if this source does not have the keys of the role
     * @throws IOException if it has, but cannot be asked now; the message says why, in one line
     */
    RoleKey find(String role, int generation) throws IOException;
}
