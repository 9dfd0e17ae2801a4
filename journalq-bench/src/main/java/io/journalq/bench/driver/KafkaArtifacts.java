package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.AppInfoParser;

/**
 * Apache Kafka's server as Maven artifacts. Maven downloads them into the user's cache directory on first use, so that the
 * distribution does not contain 100 MB that few users need.
 */
final class KafkaArtifacts {
    private static final String COPY_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies";
    private static final int FETCH_TIMEOUT_S = 600;
    private static final String POM =
            """
            <project xmlns="http://maven.apache.org/POM/4.0.0">
              <modelVersion>4.0.0</modelVersion>
              <groupId>io.journalq.peer</groupId>
              <artifactId>kafka</artifactId>
              <version>1</version>
              <packaging>pom</packaging>
              <dependencies>
                <dependency>
                  <groupId>org.apache.kafka</groupId>
                  <artifactId>kafka_2.13</artifactId>
                  <version>%s</version>
                </dependency>
                <!-- Writes errors to the broker's log. -->
                <dependency>
                  <groupId>org.slf4j</groupId>
                  <artifactId>slf4j-simple</artifactId>
                  <version>1.7.36</version>
                </dependency>
              </dependencies>
            </project>
            """;

    private KafkaArtifacts() {}

    /** The version of the server, which is that of the client library. */
    static String version() {
        return AppInfoParser.getVersion();
    }

    /** The class path of the server. Downloads the artifacts if the cache does not contain them. */
    static String classPath() {
        Path directory = cacheDirectory().resolve("kafka-" + version());
        Path complete = directory.resolve("complete");
        if (!Files.exists(complete)) {
            System.err.println("Downloading Apache Kafka " + version() + " into " + directory);
            fetch(directory);
        }
        return directory.resolve("lib") + "/*";
    }

    private static void fetch(Path directory) {
        Path log = directory.resolve("fetch.log");
        try {
            Files.createDirectories(directory);
            Files.writeString(directory.resolve("pom.xml"), POM.formatted(version()));
            Process maven = new ProcessBuilder(
                            maven(),
                            "-q",
                            "-B",
                            "-f",
                            directory.resolve("pom.xml").toString(),
                            COPY_GOAL,
                            "-DoutputDirectory=" + directory.resolve("lib"),
                            "-DincludeScope=runtime")
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            if (!maven.waitFor(FETCH_TIMEOUT_S, TimeUnit.SECONDS)) {
                maven.destroyForcibly();
            }
            if (maven.waitFor() != 0) {
                throw new BenchException("Maven cannot download Kafka: " + firstError(log), "see " + log);
            }
            Files.writeString(directory.resolve("complete"), version());
        } catch (IOException e) {
            throw new BenchException(
                    "cannot download Kafka", "install Maven (mvn) and make " + directory + " writable", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted while downloading Kafka", "run the benchmark again", e);
        }
    }

    private static String firstError(Path log) throws IOException {
        try (Stream<String> lines = Files.lines(log, StandardCharsets.UTF_8)) {
            return lines.filter(line -> line.contains("ERROR")).findFirst().orElse("the log contains no error");
        }
    }

    private static String maven() {
        return Optional.ofNullable(System.getenv("MAVEN_HOME"))
                .map(home -> Path.of(home, "bin", "mvn"))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .orElse("mvn");
    }

    private static Path cacheDirectory() {
        String configured = System.getenv("XDG_CACHE_HOME");
        Path cache = configured == null || configured.isBlank()
                ? Path.of(System.getProperty("user.home"), ".cache")
                : Path.of(configured);
        return cache.resolve("journalq-bench");
    }
}
