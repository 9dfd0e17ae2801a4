package io.journalq.seal;

/**
 * The private key of one generation of a role: of X25519 ({@link RawKeyPair}) or of RSA ({@link RsaRoleKey}). Thread-safe.
 */
public sealed interface RoleKey permits RawKeyPair, RsaRoleKey {
    /**
     * The public key as the registry contains it: the 32 bytes of a key of X25519, or an RSA key in the form
     * SubjectPublicKeyInfo (RFC 5280).
     */
    byte[] publicKey();
}
