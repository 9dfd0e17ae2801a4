package io.journalq.dist;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.jar.JarFile;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** Checks the modules that other projects depend on: their POMs, their jars and the BOM that lists them. */
class PublishedModulesTest {
    private static final Path CHECKOUT = Path.of("..");
    private static final String BOM = "journalq-bom";
    private static final List<String> SHARED = List.of("url", "licenses", "developers", "scm");

    private Element parent;
    private final List<Element> published = new ArrayList<>();

    @BeforeEach
    void readPoms() throws Exception {
        parent = pom(".");
        for (Element module : children(child(parent, "modules").orElseThrow())) {
            Element pom = pom(module.getTextContent());
            boolean skipped = child(pom, "properties")
                    .flatMap(properties -> child(properties, "maven.deploy.skip"))
                    .map(Node::getTextContent)
                    .orElse("false")
                    .equals("true");
            if (!skipped) {
                published.add(pom);
            }
        }
    }

    @Test
    void shouldListEveryPublishedModuleInTheBomWhenItIsImported() throws Exception {
        Element bom = pom(BOM);
        Element managed = child(child(bom, "dependencyManagement").orElseThrow(), "dependencies")
                .orElseThrow();

        assertThat(children(managed).stream().map(PublishedModulesTest::id))
                .containsExactlyInAnyOrderElementsOf(published.stream()
                        .map(PublishedModulesTest::id)
                        .filter(id -> !id.equals(BOM))
                        .toList());
        assertThat(text(bom, "version")).isEqualTo(text(parent, "version"));
        assertThat(child(bom, "parent")).as("would add other versions").isEmpty();
    }

    @Test
    void shouldSayWhatItIsAndWhereItComesFromWhenAModuleIsPublished() throws Exception {
        assertThat(published).hasSizeGreaterThan(4).allSatisfy(pom -> {
            assertThat(text(pom, "name")).isNotBlank();
            assertThat(text(pom, "description")).isNotBlank();
        });

        Element bom = pom(BOM);
        for (String element : SHARED) {
            assertThat(child(parent, element)).as(element).isPresent();
            assertThat(text(bom, element)).as(element).isEqualTo(text(parent, element));
        }
    }

    @Test
    void shouldHaveAModuleNameAndTheLicenseWhenAModuleIsPackaged() throws Exception {
        // given
        String license = Files.readString(CHECKOUT.resolve("LICENSE"));
        List<Path> jars = new ArrayList<>();
        List<String> names = new ArrayList<>();

        // when
        for (Element pom : published) {
            if (id(pom).equals(BOM)) {
                continue;
            }
            Path jar = jar(id(pom));
            jars.add(jar);
            names.add("io." + id(pom).replace('-', '.'));

            // then
            try (JarFile file = new JarFile(jar.toFile());
                    InputStream entry = file.getInputStream(file.getJarEntry("META-INF/LICENSE"))) {
                assertThat(new String(entry.readAllBytes(), UTF_8)).isEqualTo(license);
            }
        }
        ModuleFinder modules = ModuleFinder.of(jars.toArray(Path[]::new));
        assertThat(modules.findAll().stream().map(ModuleReference::descriptor).map(ModuleDescriptor::name))
                .containsExactlyInAnyOrderElementsOf(names);
        assertThat(sharedPackages(modules)).as("packages in two modules").isEmpty();
    }

    private static List<String> sharedPackages(ModuleFinder modules) {
        Map<String, String> owners = new HashMap<>();
        List<String> shared = new ArrayList<>();
        for (ModuleReference module : modules.findAll()) {
            for (String name : module.descriptor().packages()) {
                String other = owners.put(name, module.descriptor().name());
                if (other != null) {
                    shared.add(name + " in " + other + " and "
                            + module.descriptor().name());
                }
            }
        }
        return shared;
    }

    /** The jar that the build has made of a module. */
    private Path jar(String id) {
        return CHECKOUT.resolve(id).resolve("target").resolve(id + "-" + text(parent, "version") + ".jar");
    }

    /** The POM of a module, which is named by its directory or its file. */
    private static Element pom(String module) throws Exception {
        Path path = CHECKOUT.resolve(module);
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse((Files.isDirectory(path) ? path.resolve("pom.xml") : path).toFile())
                .getDocumentElement();
    }

    private static List<Element> children(Element parent) {
        List<Element> children = new ArrayList<>();
        for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element element) {
                children.add(element);
            }
        }
        return children;
    }

    private static Optional<Element> child(Element parent, String name) {
        return children(parent).stream()
                .filter(element -> element.getTagName().equals(name))
                .findFirst();
    }

    private static String text(Element parent, String name) {
        return child(parent, name)
                .map(element -> element.getTextContent().strip().replaceAll("\\s+", " "))
                .orElse("");
    }

    private static String id(Element artifact) {
        return text(artifact, "artifactId");
    }
}
