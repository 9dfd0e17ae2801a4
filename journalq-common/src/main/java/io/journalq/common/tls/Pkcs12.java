package io.journalq.common.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;

/** Opens PKCS12 files. Stateless. */
final class Pkcs12 {
    private Pkcs12() {}

    /** @param password null if there is none, which is an error */
    static KeyStore open(byte[] file, char[] password) throws GeneralSecurityException {
        if (password == null) {
            throw new GeneralSecurityException("a PKCS12 file needs a password");
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        try {
            store.load(new ByteArrayInputStream(file), password);
        } catch (IOException unreadable) {
            throw new GeneralSecurityException(unreadable.getMessage(), unreadable);
        }
        return store;
    }
}
