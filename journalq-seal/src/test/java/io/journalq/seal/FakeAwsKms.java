package io.journalq.seal;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The part of the API of AWS KMS that {@link AwsKms} uses, as its reference describes it, in region {@value #REGION}. It
 * computes the signature of each request again, from what has arrived, and refuses others.
 */
final class FakeAwsKms extends FakeKeyService {
    static final String REGION = "eu-central-1";
    static final String KEY_ID = "AKIDEXAMPLE";
    static final String SECRET = "canary/secret+key";
    static final String ALIAS = "alias/journalq/auditors/1";

    private static final List<String> SIGNED = List.of("content-type", "host", AwsSignature.DATE, "x-amz-target");
    private static final Pattern AUTHORIZATION =
            Pattern.compile("AWS4-HMAC-SHA256 Credential=[^,]+, SignedHeaders=([a-z0-9;-]+), Signature=[0-9a-f]{64}");
    private static final Pattern PUBLIC_KEY = Pattern.compile("\\{\"KeyId\":\"([^\"]+)\"}");
    private static final Pattern DECRYPT = Pattern.compile("\\{\"KeyId\":\"([^\"]+)\",\"CiphertextBlob\":\"([^\"]+)\","
            + "\"EncryptionAlgorithm\":\"RSAES_OAEP_SHA_256\"}");

    /** The keys by alias. The ARN of a key ends with its number. */
    final Map<String, RsaRoleKey> keys = new ConcurrentHashMap<>();

    /** What each alias points to. */
    final Map<String, String> aliases = new ConcurrentHashMap<>();

    /** The token that a request needs in addition to the secret; null if the key is a permanent one. */
    volatile String sessionToken;

    FakeAwsKms(RsaRoleKey key) throws IOException {
        String arn = arn(1);
        keys.put(arn, key);
        aliases.put(ALIAS, arn);
        start();
    }

    static String arn(int number) {
        return "arn:aws:kms:" + REGION + ":111122223333:key/00000000-0000-0000-0000-00000000000" + number;
    }

    /** An error as AWS KMS writes it. */
    static Fault error(int status, String type, String message) {
        return response(status, "{\"__type\":\"" + type + "\",\"message\":\"" + message + "\"}");
    }

    /** The connection is closed in the middle of the response. */
    static Fault lost() {
        return lost("{\"Plaintext\":\"AAAA");
    }

    /** The operation. */
    @Override
    String name(HttpExchange exchange) {
        return String.valueOf(exchange.getRequestHeaders().getFirst("X-Amz-Target"));
    }

    @Override
    void serve(HttpExchange exchange, String body) throws IOException {
        Fault reply = isSigned(exchange, body)
                ? switch (name(exchange)) {
                    case "TrentService.GetPublicKey" -> publicKey(body);
                    case "TrentService.Decrypt" -> decrypt(body);
                    default -> error(BAD_REQUEST, "UnknownOperationException", "");
                }
                : error(
                        BAD_REQUEST,
                        "InvalidSignatureException",
                        "The request signature we calculated does not match the signature you provided.\\n\\nThe"
                                + " Canonical String for this request should have been\\n'POST" + SECRET + "'");
        reply.happen(exchange);
    }

    private boolean isSigned(HttpExchange exchange, String body) {
        String authorization = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
        Matcher matcher = AUTHORIZATION.matcher(authorization);
        if (!matcher.matches()) {
            return false;
        }
        SortedMap<String, String> headers = new TreeMap<>();
        for (String name : matcher.group(1).split(";", -1)) {
            headers.put(name, String.valueOf(exchange.getRequestHeaders().getFirst(name)));
        }
        String token = exchange.getRequestHeaders().getFirst("x-amz-security-token");
        boolean withToken = sessionToken == null
                ? token == null
                : sessionToken.equals(token) && headers.containsKey("x-amz-security-token");
        String expected = AwsSignature.authorization(
                new AwsSignature.Credentials(KEY_ID, SECRET, null), REGION, "kms", headers, body.getBytes(UTF_8));
        return withToken && headers.keySet().containsAll(SIGNED) && authorization.equals(expected);
    }

    private Fault publicKey(String body) {
        Matcher request = PUBLIC_KEY.matcher(body);
        String arn = request.matches() ? aliases.get(request.group(1)) : null;
        if (arn == null) {
            return error(BAD_REQUEST, "NotFoundException", "Alias is not found.");
        }
        return response(
                OK,
                "{\"CustomerMasterKeySpec\":\"RSA_3072\",\"EncryptionAlgorithms\":[\"RSAES_OAEP_SHA_1\","
                        + "\"RSAES_OAEP_SHA_256\"],\"KeyId\":\"" + arn + "\",\"KeySpec\":\"RSA_3072\",\"KeyUsage\":"
                        + "\"ENCRYPT_DECRYPT\",\"PublicKey\":\""
                        + Base64.getEncoder().encodeToString(keys.get(arn).publicKey()) + "\"}");
    }

    private Fault decrypt(String body) throws IOException {
        Matcher request = DECRYPT.matcher(body);
        RsaRoleKey key = request.matches() ? keys.get(request.group(1)) : null;
        if (key == null) {
            return error(BAD_REQUEST, "NotFoundException", "Key is not found.");
        }
        try {
            byte[] plain = key.decrypt(Base64.getDecoder().decode(request.group(2)));
            return response(
                    OK,
                    "{\"EncryptionAlgorithm\":\"RSAES_OAEP_SHA_256\",\"KeyId\":\"" + request.group(1)
                            + "\",\"Plaintext\":\"" + Base64.getEncoder().encodeToString(plain) + "\"}");
        } catch (GeneralSecurityException wrong) {
            return response(BAD_REQUEST, "{\"__type\":\"InvalidCiphertextException\"}");
        }
    }
}
