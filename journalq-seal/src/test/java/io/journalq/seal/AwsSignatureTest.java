package io.journalq.seal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.seal.AwsSignature.Credentials;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Signatures of AWS's test suite for Signature Version 4, those of POST requests to the path {@code /}. */
class AwsSignatureTest {
    private static final String TIME = "20150830T123600Z";
    private static final String SESSION_TOKEN =
            "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsK"
                    + "WHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy"
                    + "0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm"
                    + "8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";
    private static final Credentials CREDENTIALS =
            new Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", null);

    private static String sign(String body, Map<String, String> more) {
        TreeMap<String, String> headers = new TreeMap<>(more);
        headers.put("host", "example.amazonaws.com");
        headers.put(AwsSignature.DATE, AwsSignature.time(Instant.parse("2015-08-30T12:36:00Z")));
        return AwsSignature.authorization(CREDENTIALS, "us-east-1", "service", headers, body.getBytes(UTF_8));
    }

    private static String expected(String headers, String signature) {
        return "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders="
                + headers + ", Signature=" + signature;
    }

    @Test
    void shouldSignAsTheTestSuiteOfAwsDoes() {
        // post-vanilla, post-x-www-form-urlencoded of the first edition, post-sts-header-before
        assertThat(sign("", Map.of()))
                .isEqualTo(expected(
                        "host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"));
        assertThat(sign("Param1=value1", Map.of("content-type", "application/x-www-form-urlencoded")))
                .isEqualTo(expected(
                        "content-type;host;x-amz-date",
                        "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"));
        assertThat(sign("", Map.of("x-amz-security-token", SESSION_TOKEN)))
                .isEqualTo(expected(
                        "host;x-amz-date;x-amz-security-token",
                        "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"));
        // post-header-key-sort, post-header-value-case
        assertThat(sign("", Map.of("my-header1", "value1")))
                .isEqualTo(expected(
                        "host;my-header1;x-amz-date",
                        "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"));
        assertThat(sign("", Map.of("my-header1", "VALUE1")))
                .isEqualTo(expected(
                        "host;my-header1;x-amz-date",
                        "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"));
    }

    /** post-x-www-form-urlencoded and its variant with parameters, as the SDK of AWS for C has them. */
    @ParameterizedTest
    @CsvSource({
        "application/x-www-form-urlencoded, d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b",
        "application/x-www-form-urlencoded; charset=utf-8,"
                + " 328d1b9eaadca9f5818ef05e8392801e091653bafec24fcab71e7344e7f51422"
    })
    void shouldSignABodyWithItsLengthAndHash(String contentType, String signature) {
        assertThat(sign(
                        "Param1=value1",
                        Map.of(
                                "content-length",
                                "13",
                                "content-type",
                                contentType,
                                "x-amz-content-sha256",
                                "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e")))
                .isEqualTo(expected("content-length;content-type;host;x-amz-content-sha256;x-amz-date", signature));
    }

    @Test
    void shouldDeriveTheKeyOfTheDocumentation() {
        byte[] key = AwsSignature.signingKey(CREDENTIALS.secret(), "20150830", "us-east-1", "iam");

        assertThat(HexFormat.of().formatHex(key))
                .isEqualTo("c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
        assertThat(AwsSignature.time(Instant.parse("2015-08-30T12:36:00.999Z"))).isEqualTo(TIME);
        assertThat(CREDENTIALS).hasToString("Credentials[AKIDEXAMPLE]");
    }
}
