/**
 * Tokens that an identity provider has signed (JSON Web Tokens). In: the text of a token, and the provider's public keys
 * (JWKS) from a file or an HTTPS address. Out: the user that the token names. Uses the cryptography of the JDK. Knows no
 * connections and no messages.
 */
package io.journalq.server.security.token;
