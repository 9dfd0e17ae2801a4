package io.journalq.common.sasl;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The four messages of SCRAM, without channel binding. Each is parsed with the whole text; other texts are refused with
 * a fixed message that contains nothing of them. Extensions are ignored, except mandatory ones, which are refused.
 * Stateless.
 *
 * <p>Source: RFC 5802 section 7.
 */
public final class ScramMessages {
    /** Maximum length of a message. */
    public static final int MAX_LENGTH = 4_096;

    /** The beginning of the first message of a client that neither uses nor supports channel binding. */
    public static final String GS2_HEADER = "n,,";

    private static final String SASL_NAME = "[^,\\x00]+";
    private static final String NONCE = "[\\x21-\\x2B\\x2D-\\x7E]+";
    private static final String BASE64 = "[A-Za-z0-9+/]+={0,2}";
    /** Not a repeated group, because Java's matcher would need stack for each extension. */
    private static final String EXTENSIONS = "(?:,[A-Za-z]=[^\\x00]+)?";

    private static final Pattern BAD_ESCAPE = Pattern.compile("=(?!2C|3D)");

    private static final Pattern CLIENT_FIRST = Pattern.compile("(?<gs2>[ny],(?:a=(?<authzid>" + SASL_NAME + "))?,)"
            + "(?<bare>n=(?<user>" + SASL_NAME + "),r=(?<nonce>" + NONCE + ")" + EXTENSIONS + ")");
    private static final Pattern SERVER_FIRST = Pattern.compile(
            "r=(?<nonce>" + NONCE + "),s=(?<salt>" + BASE64 + "),i=(?<iterations>[1-9][0-9]{0,8})" + EXTENSIONS);
    private static final Pattern CLIENT_FINAL = Pattern.compile("(?<unproven>c=(?<binding>" + BASE64 + "),r=(?<nonce>"
            + NONCE + ")" + EXTENSIONS + "),p=(?<proof>" + BASE64 + ")");
    private static final Pattern SERVER_FINAL =
            Pattern.compile("(?:v=(?<signature>" + BASE64 + ")|e=[^,\\x00]+)" + EXTENSIONS);

    private ScramMessages() {}

    /**
     * The first message of a client.
     *
     * @param gs2Header its beginning, which the final message repeats
     * @param authorizationId the user that the client wants to act as; null if it does not name one
     * @param bare the rest, which is signed
     */
    public record ClientFirst(String gs2Header, String authorizationId, String user, String nonce, String bare) {
        /** A message without an authorization id. */
        public static ClientFirst of(String user, String nonce) {
            return new ClientFirst(GS2_HEADER, null, user, nonce, "n=" + encodeName(user) + ",r=" + nonce);
        }

        /** Parses the message. */
        public static ClientFirst parse(String text) {
            Matcher matcher = match(CLIENT_FIRST, text);
            String authorizationId = matcher.group("authzid");
            return new ClientFirst(
                    matcher.group("gs2"),
                    authorizationId == null ? null : decodeName(authorizationId),
                    decodeName(matcher.group("user")),
                    matcher.group("nonce"),
                    matcher.group("bare"));
        }

        /** The whole message. */
        public String text() {
            return gs2Header + bare;
        }
    }

    /**
     * The first message of a server.
     *
     * @param nonce that of the client, and that of the server behind it
     */
    @SuppressWarnings("ArrayRecordComponent") // the messages are not compared
    public record ServerFirst(String nonce, byte[] salt, int iterations, String text) {
        /** The message of these values. */
        public static ServerFirst of(String nonce, byte[] salt, int iterations) {
            return new ServerFirst(nonce, salt, iterations, "r=" + nonce + ",s=" + encode(salt) + ",i=" + iterations);
        }

        /** Parses the message. */
        public static ServerFirst parse(String text) {
            Matcher matcher = match(SERVER_FIRST, text);
            return new ServerFirst(
                    matcher.group("nonce"),
                    decode(matcher.group("salt")),
                    Integer.parseInt(matcher.group("iterations")),
                    text);
        }
    }

    /**
     * The final message of a client.
     *
     * @param gs2Header that of its first message
     * @param unproven the part before the proof, which is signed
     */
    @SuppressWarnings("ArrayRecordComponent") // the messages are not compared
    public record ClientFinal(String gs2Header, String nonce, byte[] proof, String unproven) {
        /** The part before the proof. */
        public static String unproven(String gs2Header, String nonce) {
            return "c=" + encode(gs2Header.getBytes(StandardCharsets.UTF_8)) + ",r=" + nonce;
        }

        /** The whole message. */
        public static String text(String unproven, byte[] proof) {
            return unproven + ",p=" + encode(proof);
        }

        /** Parses the message. */
        public static ClientFinal parse(String text) {
            Matcher matcher = match(CLIENT_FINAL, text);
            return new ClientFinal(
                    new String(decode(matcher.group("binding")), StandardCharsets.UTF_8),
                    matcher.group("nonce"),
                    decode(matcher.group("proof")),
                    matcher.group("unproven"));
        }
    }

    /** The final message of a server that accepts the proof. */
    public static String serverFinal(byte[] signature) {
        return "v=" + encode(signature);
    }

    /** The signature in the final message of a server; null if the server has refused the proof. */
    public static byte[] parseServerFinal(String text) {
        String signature = match(SERVER_FINAL, text).group("signature");
        return signature == null ? null : decode(signature);
    }

    /** The text that client and server sign. */
    public static String authMessage(ClientFirst first, ServerFirst challenge, String unproven) {
        return first.bare() + "," + challenge.text() + "," + unproven;
    }

    private static Matcher match(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        if (text.length() > MAX_LENGTH || !matcher.matches()) {
            throw unexpected();
        }
        return matcher;
    }

    private static String encodeName(String name) {
        return name.replace("=", "=3D").replace(",", "=2C");
    }

    private static String decodeName(String text) {
        if (BAD_ESCAPE.matcher(text).find()) {
            throw unexpected();
        }
        return text.replace("=2C", ",").replace("=3D", "=");
    }

    private static String encode(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    private static byte[] decode(String text) {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException malformed) {
            throw unexpected();
        }
    }

    private static IllegalArgumentException unexpected() {
        return new IllegalArgumentException("not the expected message of SCRAM");
    }
}
