package io.journalq.codegen;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Generates one Java class for each schema in one or more directories. For the protocol's own schemas it also generates the enum
 * {@code ApiKey} and the class {@code ApiMessages}. Does nothing if neither the schemas nor the generator have changed
 * since its last run. Writes only files whose content changes, so that the compiler is not started needlessly.
 *
 * <p>Arguments: the directories of the schemas, separated as in a class path, the package of the classes, the output
 * directory, and optionally the package of {@code ApiKey}. A directory that is missing or empty has no schemas.
 */
public final class GeneratorMain {
    private static final String FINGERPRINT_FILE = ".fingerprint";

    private final List<Path> schemas;
    private final String packageName;
    private final Path output;
    private final String apiKeyPackage;

    private GeneratorMain(String[] arguments) {
        this.schemas = Stream.of(arguments[0].split(Pattern.quote(File.pathSeparator)))
                .map(Path::of)
                .toList();
        this.packageName = arguments[1];
        this.output = Path.of(arguments[2]);
        this.apiKeyPackage = arguments.length > 3 ? arguments[3] : "";
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 3 || arguments.length > 4) {
            throw new IllegalArgumentException("usage: SCHEMAS PACKAGE OUTPUT [API_KEY_PACKAGE]");
        }
        new GeneratorMain(arguments).run();
    }

    private void run() throws Exception {
        List<Path> files = schemaFiles();
        String fingerprint = fingerprint(files);
        Path fingerprintFile = output.resolve(FINGERPRINT_FILE);
        if (Files.exists(fingerprintFile) && Files.readString(fingerprintFile).equals(fingerprint)) {
            return;
        }
        Map<Path, String> sources = sources(files);
        removeOthers(sources);
        for (Map.Entry<Path, String> source : sources.entrySet()) {
            writeIfChanged(source.getKey(), source.getValue());
        }
        writeIfChanged(fingerprintFile, fingerprint);
    }

    private List<Path> schemaFiles() throws IOException {
        List<Path> all = new ArrayList<>();
        for (Path directory : schemas) {
            if (Files.isDirectory(directory)) {
                try (Stream<Path> files = Files.list(directory)) {
                    files.filter(file -> file.toString().endsWith(".json"))
                            .sorted()
                            .forEach(all::add);
                }
            }
        }
        return all;
    }

    private Map<Path, String> sources(List<Path> files) throws IOException {
        List<MessageSchema> messages = new ArrayList<>();
        for (Path file : files) {
            MessageSchema message = SchemaParser.parse(file);
            if (!message.versions().isEmpty()) {
                messages.add(message);
            }
        }
        Map<Path, String> sources = new LinkedHashMap<>();
        for (MessageSchema message : messages) {
            sources.put(sourceFile(packageName, message.name()), new MessageClass(message, packageName).generate());
        }
        if (!apiKeyPackage.isEmpty()) {
            sources.put(sourceFile(apiKeyPackage, "ApiKey"), new ApiKeyEnum(messages).generate(apiKeyPackage));
            sources.put(
                    sourceFile(packageName, "ApiMessages"),
                    new ApiMessagesClass(messages).generate(packageName, apiKeyPackage));
        }
        return sources;
    }

    private Path sourceFile(String ofPackage, String className) {
        return output.resolve(ofPackage.replace('.', '/')).resolve(className + ".java");
    }

    private void removeOthers(Map<Path, String> sources) throws IOException {
        Files.createDirectories(output);
        try (Stream<Path> present = Files.walk(output)) {
            for (Path file : present.filter(Files::isRegularFile).toList()) {
                if (!sources.containsKey(file)) {
                    Files.delete(file);
                }
            }
        }
    }

    private static void writeIfChanged(Path file, String content) throws IOException {
        if (Files.exists(file) && Files.readString(file).equals(content)) {
            return;
        }
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    /** Digest of the arguments, the schemas and the generator's own code. */
    private String fingerprint(List<Path> files) throws Exception {
        MessageDigest digest = newDigest();
        digest.update((packageName + ' ' + apiKeyPackage).getBytes(StandardCharsets.UTF_8));
        for (Path file : files) {
            update(digest, file);
        }
        Path code = Path.of(GeneratorMain.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        try (Stream<Path> classes = Files.walk(code)) {
            for (Path file : classes.filter(Files::isRegularFile).sorted().toList()) {
                update(digest, file);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static void update(MessageDigest digest, Path file) throws IOException {
        digest.update(file.getFileName().toString().getBytes(StandardCharsets.UTF_8));
        digest.update(Files.readAllBytes(file));
    }

    private static MessageDigest newDigest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java runtime has SHA-256", e);
        }
    }
}
