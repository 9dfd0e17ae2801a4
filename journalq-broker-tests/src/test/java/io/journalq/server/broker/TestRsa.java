package io.journalq.server.broker;

import java.io.IOException;
import java.io.InputStream;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyStore;
import java.security.PrivateKey;

/** Two RSA keys of 2,048 bits, which protect nothing. To make one takes 1 to 2 s of processor time, so they are in a file. */
public enum TestRsa {
    ONE,
    TWO;

    /** The password of the file, which is that of all files of tests. */
    private static final char[] PASSWORD = TestKeys.PASSWORD.toCharArray();

    /** Reads the key. */
    public KeyPair keys() {
        try (InputStream file = TestRsa.class.getResourceAsStream("/rsa.p12")) {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(file, PASSWORD);
            return new KeyPair(
                    store.getCertificate(name()).getPublicKey(), (PrivateKey) store.getKey(name(), PASSWORD));
        } catch (IOException | GeneralSecurityException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }
}
