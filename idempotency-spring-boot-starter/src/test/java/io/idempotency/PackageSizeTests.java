package io.idempotency;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A package is a room: who enters it has to see what is in it. */
class PackageSizeTests {

	private static final int MOST_FILES = 25;

	private static final int MOST_LINES = 460;

	/** Shorter files need no reason, so that they do not move to and fro. */
	private static final int MANY_LINES = 400;

	/** Where the page for successors says why some are longer. */
	private static final Pattern REASON = Pattern.compile("(?m)^- \\*\\*Long classes\\*\\*.*$");

	private static final Pattern TYPE = Pattern.compile("`(\\w+)`");

	/**
	 * The packages that are still too large, with the number of their files. A number may
	 * only get smaller, and no package may be added.
	 */
	private static final Map<String, Integer> TO_BE_SPLIT = Map.of("io.idempotency", 37, "io.idempotency.test", 30);

	@Test
	void noPackageHasTooManyFiles() {
		Map<String, Long> sizes = published().stream()
			.collect(Collectors.groupingBy(PackageSizeTests::packageOf, TreeMap::new, Collectors.counting()));
		assertThat(sizes).hasSizeGreaterThan(20)
			.allSatisfy((name, files) -> assertThat(files).as("files of %s", name)
				.isLessThanOrEqualTo(TO_BE_SPLIT.getOrDefault(name, MOST_FILES)));
		sizes.values().removeIf((files) -> files <= MOST_FILES);
		assertThat(TO_BE_SPLIT.keySet()).as("packages that need no exception any more").isSubsetOf(sizes.keySet());
	}

	@Test
	void noFileIsTooLongWithoutAReason() throws IOException {
		String reasons = REASON.matcher(Files.readString(Path.of("../docs/inside.md")))
			.results()
			.findFirst()
			.orElseThrow()
			.group();
		Set<String> reasoned = TYPE.matcher(reasons)
			.results()
			.map((type) -> type.group(1))
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(longerThan(MOST_LINES))
			.as("classes of more than %s lines without a reason in docs/inside.md", MOST_LINES)
			.isNotEmpty()
			.isSubsetOf(reasoned);
		assertThat(reasoned).as("classes that need no reason").isSubsetOf(longerThan(MANY_LINES));
	}

	private static Set<String> longerThan(int lines) throws IOException {
		Set<String> names = new TreeSet<>();
		for (Path source : published()) {
			if (Files.readAllLines(source).size() > lines) {
				names.add(source.getFileName().toString().replace(".java", ""));
			}
		}
		return names;
	}

	private static List<Path> published() {
		return Sources.of("idempotency-core", "idempotency-reactor", "idempotency-spring", "stores", "doors",
				"idempotency-spring-boot-starter", "idempotency-test");
	}

	private static String packageOf(Path source) {
		String directory = source.getParent().toString();
		return directory.substring(directory.indexOf("/java/") + "/java/".length()).replace('/', '.');
	}

}
