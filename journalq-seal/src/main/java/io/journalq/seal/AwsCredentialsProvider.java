package io.journalq.seal;

import io.journalq.seal.AwsSignature.Credentials;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where the credentials for AWS are. In this order: a profile of a file, if one is named; the environment variables {@code
 * AWS_ACCESS_KEY_ID}, {@code AWS_SECRET_ACCESS_KEY} and {@code AWS_SESSION_TOKEN}; the endpoint that a container has from ECS
 * or EKS ({@code AWS_CONTAINER_CREDENTIALS_FULL_URI} or {@code AWS_CONTAINER_CREDENTIALS_RELATIVE_URI}). Files are read for
 * each request, so that they can be replaced. Any thread.
 */
final class AwsCredentialsProvider {
    private static final int MAX_FILE_BYTES = 64 * 1024;
    private static final String KEY_ID = "AWS_ACCESS_KEY_ID";
    private static final String SECRET = "AWS_SECRET_ACCESS_KEY";
    private static final String SESSION_TOKEN = "AWS_SESSION_TOKEN";
    private static final String FULL_URI = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
    private static final String RELATIVE_URI = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
    private static final String AUTHORIZATION = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
    private static final String AUTHORIZATION_FILE = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
    private static final String ECS = "http://169.254.170.2";

    /** The endpoints of ECS and EKS, which are on the machine and have no encryption. */
    private static final Set<String> HOSTS_OF_AWS = Set.of("169.254.170.2", "169.254.170.23", "[fd00:ec2::23]");

    private static final Pattern VISIBLE = Pattern.compile("[!-~]+");
    private static final Pattern FIELD =
            Pattern.compile("\"(AccessKeyId|SecretAccessKey|Token|Expiration)\"\\s*:\\s*\"([ -!#-\\[\\]-~]*)\"");
    /** What is valid for a shorter time is asked for again. */
    private static final Duration MARGIN = Duration.ofMinutes(5);

    private final Path file;
    private final String profile;
    private final Map<String, String> environment;
    private final KeyService container;
    private volatile Temporary temporary;

    /** Credentials of a container. */
    private record Temporary(Credentials credentials, Instant end) {}

    /** The endpoint of a container says nothing that helps. */
    private static final class Errors implements KeyService.Language {
        private static final int FIRST_SERVER_ERROR = 500;

        @Override
        public boolean isPassing(KeyService.Response response) {
            return response.status() == KeyService.TOO_MANY_REQUESTS || response.status() >= FIRST_SERVER_ERROR;
        }

        @Override
        public String message(KeyService.Response response) {
            return "";
        }
    }

    /**
     * Reads nothing yet.
     *
     * @param file of the form that the tools of AWS have; null if there is none
     * @param profile the section of the file
     */
    AwsCredentialsProvider(Path file, String profile, Map<String, String> environment, Duration timeout) {
        this.file = file;
        this.profile = profile;
        this.environment = environment;
        this.container = new KeyService("the credentials endpoint of the container", timeout, null, new Errors());
    }

    /** Where they are, for messages. */
    String origin() {
        if (file != null) {
            return "profile " + profile + " of " + file;
        }
        return environment.containsKey(KEY_ID) ? "the environment variable " + KEY_ID : "the container";
    }

    /**
     * The credentials that are valid now. May block.
     *
     * @throws IOException if there are none; the message says why, in one line, without a secret
     */
    Credentials current() throws IOException {
        if (file != null) {
            return ofFile();
        }
        if (environment.containsKey(KEY_ID)) {
            return checked(environment.get(KEY_ID), environment.get(SECRET), environment.get(SESSION_TOKEN));
        }
        if (environment.containsKey(FULL_URI) || environment.containsKey(RELATIVE_URI)) {
            return ofContainer();
        }
        throw new IOException("there are no credentials for AWS; set " + KEY_ID + " and " + SECRET
                + ", or name a file with credentials");
    }

    private Credentials checked(String keyId, String secret, String sessionToken) throws IOException {
        if (keyId == null || secret == null || !isVisible(keyId) || !isVisible(secret)) {
            throw new IOException(origin() + " has no id and secret of a key, each in one line");
        }
        String token = sessionToken == null || sessionToken.isEmpty() ? null : sessionToken;
        if (token != null && !isVisible(token)) {
            throw new IOException(origin() + " has a session token with characters that cannot be sent");
        }
        return new Credentials(keyId, secret, token);
    }

    private static boolean isVisible(String text) {
        return VISIBLE.matcher(text).matches();
    }

    private Credentials ofFile() throws IOException {
        Map<String, String> found = null;
        for (String line : read(file, "the credentials").lines().toList()) {
            String text = line.strip();
            if (text.startsWith("[") && text.endsWith("]")) {
                boolean wanted = text.substring(1, text.length() - 1).strip().equals(profile);
                if (found != null && !wanted) {
                    break;
                }
                found = wanted ? new HashMap<>() : null;
            } else if (found != null && text.indexOf('=') > 0 && !text.startsWith("#")) {
                int at = text.indexOf('=');
                found.put(text.substring(0, at).strip(), text.substring(at + 1).strip());
            }
        }
        if (found == null) {
            throw new IOException(file + " has no profile " + profile);
        }
        return checked(
                found.get("aws_access_key_id"), found.get("aws_secret_access_key"), found.get("aws_session_token"));
    }

    private static String read(Path file, String what) throws IOException {
        try {
            if (Files.size(file) <= MAX_FILE_BYTES) {
                return Files.readString(file);
            }
        } catch (IOException unreadable) {
            throw new IOException("cannot read " + what + " in " + file, unreadable);
        }
        throw new IOException(file + " is larger than " + MAX_FILE_BYTES + " bytes");
    }

    private Credentials ofContainer() throws IOException {
        Temporary known = temporary;
        if (known != null && Instant.now().isBefore(known.end.minus(MARGIN))) {
            return known.credentials;
        }
        URI address = address();
        KeyService.Response response = container.ask(() -> {
            HttpRequest.Builder request = HttpRequest.newBuilder(address).GET();
            String authorization = authorization();
            return (authorization == null ? request : request.header("Authorization", authorization)).build();
        });
        if (response.status() != KeyService.OK) {
            throw new IOException("the container has no credentials for AWS (" + container.inWords(response) + ")");
        }
        Map<String, String> fields = new HashMap<>();
        Matcher field = FIELD.matcher(response.body());
        while (field.find()) {
            fields.put(field.group(1), field.group(2));
        }
        Credentials credentials =
                checked(fields.get("AccessKeyId"), fields.get("SecretAccessKey"), fields.get("Token"));
        try {
            temporary = new Temporary(credentials, Instant.parse(fields.getOrDefault("Expiration", "")));
        } catch (DateTimeParseException without) {
            temporary = null; // Asked for again for each request.
        }
        return credentials;
    }

    private URI address() throws IOException {
        String full = environment.get(FULL_URI);
        try {
            URI address = URI.create(full == null ? ECS + environment.get(RELATIVE_URI) : full);
            if (!HOSTS_OF_AWS.contains(String.valueOf(address.getHost()))) {
                KeyService.checkAddress("the credentials endpoint", address, "the authorization of the container");
            }
            return address;
        } catch (IllegalArgumentException unusable) {
            throw new IOException(
                    (full == null ? RELATIVE_URI : FULL_URI) + " cannot be used: " + unusable.getMessage(), unusable);
        }
    }

    private String authorization() throws IOException {
        String name = environment.get(AUTHORIZATION_FILE);
        String text = name == null
                ? environment.get(AUTHORIZATION)
                : read(Path.of(name), "the authorization of the container").strip();
        if (text != null && !isVisible(text)) {
            throw new IOException((name == null ? AUTHORIZATION : name) + " has no authorization in one line");
        }
        return text;
    }
}
