package io.journalq.seal;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.SortedMap;

/**
 * Signature Version 4 of AWS, of a POST request to the path {@code /} without a query, which is what AWS KMS takes.
 * Stateless.
 *
 * <p>Source: AWS, <i>Create a signed AWS API request</i>; the tests use its test suite.
 */
final class AwsSignature {
    /** The header with the time of the request, which is always signed. */
    static final String DATE = "x-amz-date";

    private static final String ALGORITHM = "AWS4-HMAC-SHA256";
    private static final String TERMINATOR = "aws4_request";
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
    private static final int DAY_LENGTH = "yyyyMMdd".length();

    private AwsSignature() {}

    /**
     * A key for signatures.
     *
     * @param sessionToken what makes a temporary key valid; null for a permanent key
     */
    record Credentials(String keyId, String secret, String sessionToken) {
        /** Never contains the secret. */
        @Override
        public String toString() {
            return "Credentials[" + keyId + "]";
        }
    }

    /** A time as the header {@value #DATE} contains it. */
    static String time(Instant now) {
        return TIME.format(now);
    }

    /**
     * The value of the header {@code Authorization}.
     *
     * @param region such as {@code eu-central-1}
     * @param service such as {@code kms}
     * @param headers all headers to sign, by their name in lower case, with {@value #DATE} and {@code host}
     */
    static String authorization(
            Credentials credentials, String region, String service, SortedMap<String, String> headers, byte[] body) {
        StringBuilder request = new StringBuilder("POST\n/\n\n");
        headers.forEach((name, value) ->
                request.append(name).append(':').append(value.strip()).append('\n'));
        String names = String.join(";", headers.keySet());
        request.append('\n').append(names).append('\n').append(hex(Hkdf.sha256(body)));

        String time = headers.get(DATE);
        String day = time.substring(0, DAY_LENGTH);
        String scope = day + "/" + region + "/" + service + "/" + TERMINATOR;
        String text = ALGORITHM + "\n" + time + "\n" + scope + "\n"
                + hex(Hkdf.sha256(request.toString().getBytes(UTF_8)));
        byte[] key = signingKey(credentials.secret, day, region, service);
        return ALGORITHM + " Credential=" + credentials.keyId + "/" + scope + ", SignedHeaders=" + names
                + ", Signature=" + hex(Hkdf.hmac(key, text.getBytes(US_ASCII)));
    }

    /** The key of one day, region and service. */
    static byte[] signingKey(String secret, String day, String region, String service) {
        byte[] key = ("AWS4" + secret).getBytes(UTF_8);
        for (String part : new String[] {day, region, service, TERMINATOR}) {
            key = Hkdf.hmac(key, part.getBytes(UTF_8));
        }
        return key;
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
