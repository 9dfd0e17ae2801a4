package io.journalq.cli.keys;

import io.journalq.cli.shell.ClientProgram;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.client.Admin;
import io.journalq.client.KeyTopics;
import io.journalq.common.file.FileProblem;
import io.journalq.seal.KeyVault;
import io.journalq.seal.RawKeyPair;
import io.journalq.seal.Registry;
import io.journalq.seal.SealAdmin;
import io.journalq.seal.SealPolicy;
import io.journalq.seal.TrustPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import picocli.CommandLine.Option;

/** The keyring that a command uses. For one run. */
final class KeyringOptions {
    @Option(
            names = "--keyring",
            paramLabel = "FILE",
            required = true,
            description = "File with private keys. A command that makes a key creates the file if it does not exist: a"
                    + " key store of the form PKCS#12 if its name ends with .p12, and otherwise a keyring.")
    private Path keyring;

    @Option(
            names = "--passphrase-file",
            paramLabel = "FILE",
            required = true,
            description = "File with the passphrase that encrypts the keyring.")
    private Path passphraseFile;

    Path keyring() {
        return keyring;
    }

    Path passphraseFile() {
        return passphraseFile;
    }

    /** Opens the keyring. */
    KeyVault open() {
        try {
            return KeyVault.open(keyring, SealPolicy.passphrase(passphraseFile));
        } catch (IOException unusable) {
            throw new CommandFailure(FileProblem.message(unusable));
        }
    }

    /** Opens the keyring, or creates it. */
    KeyVault openOrCreate() {
        if (Files.exists(keyring)) {
            return open();
        }
        try {
            return KeyVault.create(keyring, SealPolicy.passphrase(passphraseFile));
        } catch (IOException unusable) {
            throw new CommandFailure(FileProblem.message(unusable));
        }
    }

    /** Trusts the root key of the keyring; without one, the root key that was seen first. */
    TrustPolicy trust(KeyVault vault) {
        Path memory = keyring.resolveSibling(keyring.getFileName() + ".trust");
        RawKeyPair root = vault.root();
        return root == null
                ? TrustPolicy.onFirstUse(memory)
                : TrustPolicy.pinned(Registry.fingerprint(root.publicKey()), memory);
    }

    SealAdmin admin(ClientProgram program, KeyVault vault) {
        return new SealAdmin(vault, KeyTopics.of(program.configure(Admin.builder())), trust(vault));
    }

    static String text(byte[] publicKey) {
        return Base64.getEncoder().encodeToString(publicKey);
    }

    static byte[] publicKey(String text) {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException notBase64) {
            throw new CommandFailure("a public key is written in base64: " + text);
        }
    }
}
