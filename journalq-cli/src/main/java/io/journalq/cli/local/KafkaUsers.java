package io.journalq.cli.local;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The users in the metadata of a Kafka cluster, as {@code kafka-dump-log.sh --cluster-metadata-decoder} prints it. Later
 * records replace earlier ones. One thread.
 */
final class KafkaUsers {
    private static final String PAYLOAD = "payload: ";
    private static final String SET = "USER_SCRAM_CREDENTIAL_RECORD";
    private static final String REMOVED = "REMOVE_USER_SCRAM_CREDENTIAL_RECORD";

    private final SortedMap<String, Map<ScramMechanism, ScramCredential>> byName = new TreeMap<>();
    private long records;

    /** Reads a file after those that were read before. */
    void read(Path file) {
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            long number = 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                number++;
                int start = line.indexOf(PAYLOAD);
                if (start < 0) {
                    continue;
                }
                records++;
                // Without its text in the message: it contains keys.
                try {
                    apply(line.substring(start + PAYLOAD.length()));
                } catch (IOException | IllegalArgumentException malformed) {
                    throw new CommandFailure(file + ":" + number + ": the record of a user is malformed or incomplete;"
                            + " dump the metadata again");
                }
            }
        } catch (MalformedInputException binary) {
            throw notADump(file);
        } catch (IOException unreadable) {
            throw CommandFailure.unreadable(file, unreadable);
        }
        if (records == 0) {
            throw notADump(file);
        }
    }

    private static CommandFailure notADump(Path file) {
        return new CommandFailure(file + " contains no record of Kafka's metadata; write it with: kafka-dump-log.sh"
                + " --cluster-metadata-decoder --files <snapshot and logs of __cluster_metadata-0>");
    }

    private void apply(String payload) throws IOException {
        if (!payload.contains(SET)) {
            return;
        }
        Map<String, String> fields = fields(payload);
        String type = fields.get("type");
        if (!SET.equals(type) && !REMOVED.equals(type)) {
            return;
        }
        ScramMechanism mechanism = ScramMechanism.of((byte) Integer.parseInt(fields.get("mechanism")));
        Map<ScramMechanism, ScramCredential> user =
                byName.computeIfAbsent(text(fields, "name"), first -> new TreeMap<>());
        if (mechanism == null) {
            throw new IllegalArgumentException("unknown mechanism");
        } else if (type.equals(REMOVED)) {
            user.remove(mechanism);
        } else {
            user.put(
                    mechanism,
                    new ScramCredential(
                            mechanism,
                            bytes(fields, "salt"),
                            Integer.parseInt(fields.get("iterations")),
                            bytes(fields, "storedKey"),
                            bytes(fields, "serverKey")));
        }
    }

    /** The names and values of all fields of an object, also of those in it. */
    private static Map<String, String> fields(String json) throws IOException {
        Map<String, String> fields = new HashMap<>();
        try (JsonParser parser = Json.FACTORY.createParser(json)) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token.isScalarValue()) {
                    fields.put(parser.currentName(), parser.getText());
                }
            }
        }
        return fields;
    }

    private static byte[] bytes(Map<String, String> fields, String name) {
        return Base64.getDecoder().decode(text(fields, name));
    }

    private static String text(Map<String, String> fields, String name) {
        String text = fields.get(name);
        if (text == null) {
            throw new IllegalArgumentException("no " + name);
        }
        return text;
    }

    /** The keys of each user that has any. */
    SortedMap<String, List<ScramCredential>> credentials() {
        SortedMap<String, List<ScramCredential>> credentials = new TreeMap<>();
        byName.forEach((name, keys) -> {
            if (!keys.isEmpty()) {
                credentials.put(name, List.copyOf(keys.values()));
            }
        });
        return credentials;
    }
}
