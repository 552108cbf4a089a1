package io.idempotency.it.linkage;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One jar for both Boot lines: whatever the published classes refer to is there on the
 * line that the tests run on. The jars were compiled against the older line.
 */
class PublishedClassesLinkageTests {

	/**
	 * What may be absent, with the reason. Everything else that is missing on one line
	 * would be an error in a running application.
	 */
	private static final Map<Pattern, String> OPTIONAL = Map.of(
	// @formatter:off
			Pattern.compile("tools/jackson/.*"),
				"Jackson 3 is on the 4.x line only; its adapters are used where it is present",
			Pattern.compile("com/fasterxml/jackson/(core|databind)/.*"),
				"Jackson 2 is on the 3.5 line only; its adapters are used where Jackson 3 is not",
			Pattern.compile("org/springframework/boot/actuate/health/.*"),
				"health contributors of the 3.5 line; a nested configuration asks for the class by name",
			Pattern.compile("org/springframework/boot/health/.*"),
				"health contributors of the 4.x line; a nested configuration asks for the class by name",
			Pattern.compile("(org/springdoc|io/swagger)/.*"),
				"springdoc has a version for each line; the sample shop runs every class that uses it, with both",
			Pattern.compile("(org/springframework/ai|io/modelcontextprotocol)/.*"),
				"Spring AI has a version for each line; the framework tests run every class that uses it, with both",
			Pattern.compile("(io/r2dbc|org/springframework/r2dbc)/.*"),
				"a driver on the class path takes the DataSource away; the tests of WebFlux run every class that uses it, on both",
			Pattern.compile("reactor/netty/.*"),
				"WebFlux runs on other servers too; the tests of WebFlux run the class that uses it, on both",
			Pattern.compile("reactor/blockhound/.*"),
				"BlockHound itself looks for the class that uses it, in tests only"
			// @formatter:on
	);

	private final LinkageChecker checker = new LinkageChecker(getClass().getClassLoader());

	@ParameterizedTest
	@ValueSource(strings = { "idempotency-core", "idempotency-reactor", "idempotency-sql", "idempotency-jdbc",
			"idempotency-r2dbc", "idempotency-redis", "idempotency-spring", "idempotency-http", "idempotency-webmvc",
			"idempotency-webflux", "idempotency-client", "idempotency-graphql", "idempotency-ai",
			"idempotency-messaging", "idempotency-openapi", "idempotency-spring-boot-starter",
			"idempotency-spring-boot-starter-webflux", "idempotency-test" })
	void publishedModuleIsOnTheClassPath(String module) {
		assertThat(locationOf(module)).exists();
	}

	@ParameterizedTest
	@ValueSource(strings = { "idempotency-core", "idempotency-reactor", "idempotency-sql", "idempotency-jdbc",
			"idempotency-r2dbc", "idempotency-redis", "idempotency-spring", "idempotency-http", "idempotency-webmvc",
			"idempotency-webflux", "idempotency-client", "idempotency-graphql", "idempotency-ai",
			"idempotency-messaging", "idempotency-openapi", "idempotency-spring-boot-starter",
			"idempotency-spring-boot-starter-webflux", "idempotency-test" })
	void everythingThePublishedClassesReferToIsThere(String module) throws IOException {
		List<LinkageProblem> problems = new ArrayList<>();
		for (byte[] classFile : classFilesOf(module)) {
			this.checker.check(classFile).stream().filter((problem) -> !isOptional(problem)).forEach(problems::add);
		}
		assertThat(problems).as("references of %s that do not link", module).isEmpty();
	}

	@Test
	void classesAreRead() throws IOException {
		assertThat(classFilesOf("idempotency-core")).hasSizeGreaterThan(30);
	}

	private static boolean isOptional(LinkageProblem problem) {
		return OPTIONAL.keySet().stream().anyMatch((pattern) -> pattern.matcher(problem.to()).matches());
	}

	private static List<byte[]> classFilesOf(String module) throws IOException {
		Path location = locationOf(module);
		if (Files.isDirectory(location)) {
			return classFilesUnder(location);
		}
		try (FileSystem jar = FileSystems.newFileSystem(URI.create("jar:" + location.toUri()), Map.of())) {
			return classFilesUnder(jar.getPath("/"));
		}
	}

	private static List<byte[]> classFilesUnder(Path root) throws IOException {
		List<byte[]> classFiles = new ArrayList<>();
		try (Stream<Path> files = Files.walk(root)) {
			for (Path file : files.filter((path) -> path.toString().endsWith(".class")).toList()) {
				classFiles.add(Files.readAllBytes(file));
			}
		}
		return classFiles;
	}

	/** The jar, or the classes of the module where nothing was packaged. */
	private static Path locationOf(String module) {
		Pattern entry = Pattern.compile(".*[/\\\\]" + module + "(-\\d[^/\\\\]*\\.jar|[/\\\\]target[/\\\\]classes)");
		return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((path) -> entry.matcher(path).matches())
			.map(Path::of)
			.findFirst()
			.orElseThrow(() -> new AssertionError(module + " is not on the class path"));
	}

}
