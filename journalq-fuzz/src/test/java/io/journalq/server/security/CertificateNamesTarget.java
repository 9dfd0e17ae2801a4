package io.journalq.server.security;

import io.journalq.fuzz.FuzzTarget;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import javax.security.auth.x500.X500Principal;

/**
 * Names of certificates, and the rules that map them to users. Input: the rules, a line break, and the common name (CN) of a
 * certificate whose unit (OU) is {@code guests}. No common name may pass for one of another unit.
 */
public final class CertificateNamesTarget implements FuzzTarget {
    private static final int MAX_ALLOCATED_PER_BYTE = 20_000;
    private static final int MAX_ALLOCATED_EXTRA_BYTES = 4 << 20;

    private static final int SEQUENCE = 0x30;
    private static final int SET = 0x31;
    private static final int UTF8_STRING = 0x0C;
    private static final byte[] OF_COMMON_NAME = {6, 3, 0x55, 4, 3};
    private static final byte[] OF_ORGANIZATION = {6, 3, 0x55, 4, 10};
    private static final byte[] OF_UNIT = {6, 3, 0x55, 4, 11};

    /** The example of Kafka's documentation, which is not anchored at the end. */
    private static final PrincipalRules USERS_ONLY = PrincipalRules.parse("RULE:^CN=(.*?),OU=users.*$/$1/");

    @Override
    public String name() {
        return "certificate-names";
    }

    @Override
    public List<byte[]> seeds() {
        return List.of(
                seed("DEFAULT", "ada"),
                seed("RULE:^CN=(.*?),OU=guests.*$/$1/", "ada"),
                seed("RULE:^CN=([^,]*),(.*)$/$2-$1/L, RULE:^.*O=([^,]*)$/\\/$1\\$2$9/U, DEFAULT", "Ada Lovelace"),
                seed("RULE:^CN=(.*),.*$/\\$9-$1/", "ada"),
                seed("DEFAULT", "ada,OU=users"),
                seed("DEFAULT", " #ada\\,OU=users+O=\"x\";<é> "));
    }

    private static byte[] seed(String rules, String commonName) {
        return (rules + '\n' + commonName).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void run(byte[] input) throws Exception {
        int ruleBytes = 0;
        while (ruleBytes < input.length && input[ruleBytes] != '\n') {
            ruleBytes++;
        }
        X500Principal subject;
        try {
            subject = new X500Principal(
                    name(Arrays.copyOfRange(input, Math.min(ruleBytes + 1, input.length), input.length)));
        } catch (IllegalArgumentException malformed) {
            return;
        }
        String name = subject.getName();
        if (userOf(USERS_ONLY, name) != null) {
            throw new AssertionError("a guest is taken for a user");
        }
        PrincipalRules rules;
        try {
            rules = PrincipalRules.parse(new String(input, 0, ruleBytes, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException malformed) {
            return;
        }
        userOf(rules, name);
    }

    /** Null if no rule matches. */
    private static String userOf(PrincipalRules rules, String name) {
        try {
            return rules.nameOf(name);
        } catch (IllegalArgumentException refused) {
            return null;
        }
    }

    private static byte[] name(byte[] commonName) throws Exception {
        return element(
                SEQUENCE,
                part(OF_ORGANIZATION, "Example".getBytes(StandardCharsets.UTF_8)),
                part(OF_UNIT, "guests".getBytes(StandardCharsets.UTF_8)),
                part(OF_COMMON_NAME, commonName));
    }

    private static byte[] part(byte[] type, byte[] value) throws Exception {
        return element(SET, element(SEQUENCE, type, element(UTF8_STRING, value)));
    }

    /** An element of DER, with a length of two bytes in the long form. */
    private static byte[] element(int tag, byte[]... parts) throws Exception {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.write(part);
        }
        ByteArrayOutputStream element = new ByteArrayOutputStream();
        element.write(tag);
        if (content.size() < 0x80) {
            element.write(content.size());
        } else if (content.size() < 0x100) {
            element.write(0x81);
            element.write(content.size());
        } else {
            element.write(0x82);
            element.write(content.size() >> Byte.SIZE);
            element.write(content.size());
        }
        content.writeTo(element);
        return element.toByteArray();
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_EXTRA_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
