package io.idempotency.it.docs;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.it.docs.Page.Block;
import io.idempotency.observation.IdempotencyObservation.RunKeyName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.bind.PropertySourcesPlaceholdersResolver;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.PropertiesPropertySourceLoader;
import org.springframework.boot.env.PropertySourceLoader;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

class DocumentationTests {

	private static final Pattern LINK = Pattern.compile("\\[[^\\]]*\\]\\(([^)\\s]+)\\)");

	private static final Pattern NAMED_PROPERTY = Pattern
		.compile("`(idempotency(?:\\.[a-z]+(?:-[a-z]+)*)+)(?:[=:] ?([^`]+))?`");

	private static final Pattern NAMED_TEST = Pattern
		.compile("`([A-Z]\\w*(?:Tests|Contract|Scheme|Rules))(?:#(\\w+))?`");

	private static final Pattern TYPE = Pattern.compile("(?<![@\\w])[A-Z][a-z]+(?:[A-Z][a-z]+)+\\b");

	private static final Pattern MAVEN_ARTIFACT = Pattern
		.compile("<groupId>([^<]+)</groupId>\\s*<artifactId>([^<]+)</artifactId>(?:\\s*<version>([^<]+)</version>)?");

	private static final Pattern GRADLE_ARTIFACT = Pattern.compile("implementation[( ][\"']([^\"']+)[\"']");

	private static final Pattern GRADLE_BOOT = Pattern
		.compile("id\\(\"org\\.springframework\\.boot\"\\) version \"([^\"]+)\"");

	private static final String PROOFS = "verification/idempotency-proofs/";

	private static final String FIGURES = "verification/idempotency-benchmarks/performance/";

	private static final int MAX_WORDS = 46_000;

	private static final int MAX_SENTENCE = 25;

	/** What examples take from the environment. */
	private static final PropertySource<?> KEYS = new MapPropertySource("keys",
			Map.of("IDEMPOTENCY_KEY_1", "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA="));

	/** Keys of the MDC, which have the form of property names. */
	private static final Set<String> MDC_KEYS = Set.of("idempotency.operation", "idempotency.record");

	/** Their defaults are computed. */
	private static final Set<String> WITHOUT_DEFAULT = Set.of("idempotency.memory.max-size",
			"idempotency.http.retention-on-error", "idempotency.namespace", "idempotency.node");

	/** The types of properties that integrations have; they are not public. */
	private static final Set<String> INTEGRATIONS = Set.of(
			"io.idempotency.ai.IdempotencyAiAutoConfiguration$AiProperties",
			"io.idempotency.client.IdempotencyClientAutoConfiguration$ClientProperties");

	@ParameterizedTest
	@MethodSource
	void linksLeadSomewhere(Page page) {
		assertThat(LINK.matcher(page.withoutBlocks()).results().map((link) -> link.group(1)))
			.allSatisfy((link) -> assertThat(leadsSomewhere(page, link)).as(link).isTrue());
	}

	static List<Page> linksLeadSomewhere() {
		return Stream
			.concat(Page.all().stream(),
					Stream
						.of("SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "idempotency-samples/shop/README.md",
								"idempotency-samples/reactive-shop/README.md", "idempotency-samples/graphql/README.md",
								"idempotency-samples/tools/README.md", PROOFS + "README.md", PROOFS + "model/README.md",
								FIGURES + "README.md", FIGURES + "figures.md", FIGURES + "warm.md",
								FIGURES + "peers.md", FIGURES + "records.md")
						.map(Page::of))
			.toList();
	}

	private static boolean leadsSomewhere(Page page, String link) {
		if (link.contains("://")) {
			return true;
		}
		String[] parts = link.split("#", 2);
		Path target = parts[0].isEmpty() ? page.path()
				: Objects.requireNonNullElse(page.path().getParent(), Path.of("")).resolve(parts[0]).normalize();
		boolean exists = Files.exists(Page.ROOT.resolve(target));
		return exists && (parts.length == 1 || Page.of(target.toString()).anchors().contains(parts[1]));
	}

	@Test
	void everyPageIsInTheIndexAndInTheNavigation() {
		String index = Page.of("docs/index.md").text();
		String navigation = Page.of("mkdocs.yml").text();
		assertThat(Page.all()).hasSizeGreaterThan(10)
			.filteredOn((page) -> page.path().startsWith("docs") && !page.path().endsWith("index.md"))
			.allSatisfy((page) -> assertThat(index).contains("](" + page.path().getFileName() + ")"))
			.allSatisfy((page) -> assertThat(navigation).contains(": " + page.path().getFileName() + "\n"));
	}

	@ParameterizedTest
	@MethodSource
	void settingsBind(Block settings) {
		PropertySourceLoader loader = settings.language().equals("yaml") ? new YamlPropertySourceLoader()
				: new PropertiesPropertySourceLoader();
		assertThatCode(() -> bind(loader, settings.code())).doesNotThrowAnyException();
	}

	static List<Block> settingsBind() {
		return Page.all().stream().flatMap((page) -> page.blocks("yaml", "properties").stream()).toList();
	}

	@Test
	void unknownSettingsDoNotBind() {
		assertThatThrownBy(() -> bind(new YamlPropertySourceLoader(), "idempotency:\n  retain: 1h\n"))
			.hasStackTraceContaining("retain");
	}

	private static void bind(PropertySourceLoader loader, String settings) throws IOException {
		List<PropertySource<?>> sources = loader.load("documentation",
				new ByteArrayResource(settings.getBytes(StandardCharsets.UTF_8)));
		new Binder(ConfigurationPropertySources.from(sources), new PropertySourcesPlaceholdersResolver(List.of(KEYS)))
			.bind("idempotency", Bindable.of(IdempotencyProperties.class),
					new NoUnboundElementsBindHandler(BindHandler.DEFAULT));
	}

	@ParameterizedTest
	@MethodSource("io.idempotency.it.docs.Page#all")
	void namedPropertiesExist(Page page) {
		Map<String, String> known = defaults();
		// The values that a span of a replay has are no properties, and have names alike.
		for (RunKeyName value : RunKeyName.values()) {
			known.put(value.asString(), "");
		}
		MDC_KEYS.forEach((key) -> known.put(key, ""));
		assertThat(NAMED_PROPERTY.matcher(page.withoutBlocks()).results()).allSatisfy((named) -> {
			assertThat(known).containsKey(named.group(1));
			bindNamed(named);
		});
	}

	private static void bindNamed(MatchResult named) {
		if (named.group(2) != null) {
			assertThatCode(() -> bind(new PropertiesPropertySourceLoader(), named.group(1) + "=" + named.group(2)))
				.doesNotThrowAnyException();
		}
	}

	@Test
	void everyPropertyIsDocumentedWithItsDefault() {
		Map<String, String> documented = new TreeMap<>();
		for (List<String> row : Page.of("docs/configuration.md").rows()) {
			if (row.get(0).startsWith("`idempotency.")) {
				assertThat(row).hasSize(3).doesNotContain("");
				String value = row.get(1).equals("none") ? "" : row.get(1);
				assertThat(documented.put(row.get(0).replace("`", ""), value.replace("`", ""))).isNull();
			}
		}
		Map<String, String> defaults = defaults();
		assertThat(WITHOUT_DEFAULT).allSatisfy((name) -> {
			assertThat(defaults.remove(name)).isEmpty();
			assertThat(documented.remove(name)).isNotEmpty();
		});
		assertThat(documented).isEqualTo(defaults);
	}

	private static Map<String, String> defaults() {
		Map<String, String> defaults = defaults(IdempotencyProperties.class, "idempotency.");
		for (String type : INTEGRATIONS) {
			Class<?> properties = ClassUtils.resolveClassName(type, null);
			defaults
				.putAll(defaults(properties, properties.getAnnotation(ConfigurationProperties.class).value() + "."));
		}
		return defaults;
	}

	private static Map<String, String> defaults(Class<?> type, String prefix) {
		Map<String, String> defaults = new TreeMap<>();
		RecordComponent[] components = type.getRecordComponents();
		Parameter[] parameters = type.getDeclaredConstructors()[0].getParameters();
		for (int i = 0; i < components.length; i++) {
			String name = prefix + components[i].getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
			if (components[i].getType().isRecord()) {
				defaults.putAll(defaults(components[i].getType(), name + "."));
			}
			else {
				DefaultValue value = parameters[i].getAnnotation(DefaultValue.class);
				defaults.put(name, (value != null) ? String.join(", ", value.value()) : "");
			}
		}
		return defaults;
	}

	@Test
	void everyAttributeIsDocumentedWithItsDefault() {
		Map<String, String> attributes = Arrays.stream(Idempotent.class.getDeclaredMethods())
			.collect(Collectors.toMap(Method::getName, (attribute) -> text(attribute.getDefaultValue())));
		Map<String, String> documented = new TreeMap<>();
		for (List<String> row : Page.of("docs/annotation.md").rows()) {
			for (String name : row.get(0).replace("`", "").split(", ")) {
				if (row.size() == 3 && row.get(1).startsWith("`") && attributes.containsKey(name)) {
					documented.put(name, row.get(1).replace("`", ""));
				}
			}
		}
		assertThat(documented).isEqualTo(attributes);
	}

	private static String text(Object value) {
		if (value instanceof String text) {
			return '"' + text + '"';
		}
		return (value instanceof Object[] values && values.length == 0) ? "{}" : value.toString();
	}

	@Test
	void everyProblemIsDocumented() {
		List<String> problems = Arrays.stream(IdempotencyException.class.getPermittedSubclasses())
			.map(DocumentationTests::problem)
			.map((problem) -> problem.code() + " " + problem.status() + " " + problem.getClass().getSimpleName() + " "
					+ problem.retry())
			.toList();
		List<String> documented = new ArrayList<>();
		Page errors = Page.of("docs/error-codes.md");
		for (List<String> row : errors.rows()) {
			if (row.size() == 4 && row.get(1).matches("\\d{3}")) {
				documented.add(String.join(" ", row).replaceAll("`|\\[|\\]\\(#[a-z-]+\\)", ""));
			}
		}
		assertThat(documented).containsExactlyInAnyOrderElementsOf(problems);
		// The types of problems may lead there: idempotency.http.problem-type-base.
		assertThat(problems).allSatisfy((problem) -> assertThat(errors.anchors()).contains(problem.split(" ")[0]));
		assertThat(Page.of("README.md").rows()).filteredOn((row) -> row.size() == 3 && row.get(1).matches("\\d{3}.*"))
			.isNotEmpty()
			.allSatisfy((row) -> assertThat(problems).anyMatch((problem) -> problem
				.startsWith(row.get(2).replace("`", "") + " " + row.get(1).substring(0, 3) + " ")));
	}

	@Test
	void everyProblemHasCauseAndCure() {
		assertThat(troubleshooting("## From a code", "## From the health")).map((row) -> row.get(0))
			.containsExactlyInAnyOrderElementsOf(Arrays.stream(IdempotencyException.class.getPermittedSubclasses())
				.map((type) -> problem(type).code())
				.toList());
	}

	private static List<List<String>> troubleshooting(String from, String to) {
		Page page = Page.of("docs/troubleshooting.md");
		String text = page.text().substring(page.text().indexOf(from), page.text().indexOf(to));
		return new Page(page.path(), text).rows()
			.stream()
			.filter((row) -> row.get(0).startsWith("`") && !row.get(0).equals("`code`"))
			.map((row) -> row.stream().map((cell) -> cell.replace("`", "")).toList())
			.toList();
	}

	@ParameterizedTest
	@MethodSource("io.idempotency.it.docs.Page#all")
	void namedTestsExist(Page page) {
		assertThat(NAMED_TEST.matcher(page.text()).results())
			.allSatisfy((test) -> assertThat(Sources.has(test.group(1), Objects.requireNonNullElse(test.group(2), "")))
				.as(test.group())
				.isTrue());
	}

	/** A nested type is named in the file of the type around it. */
	@Test
	void architectureNamesTypesThatExist() {
		String code = Pattern.compile("`[^`]+`")
			.matcher(Page.of("docs/architecture.md").withoutBlocks())
			.results()
			.map(MatchResult::group)
			.collect(Collectors.joining());
		assertThat(TYPE.matcher(code).results().map(MatchResult::group).distinct()).hasSizeGreaterThan(50)
			.allSatisfy((type) -> assertThat(Sources.has(type, "") || Sources.declares(type)).as(type).isTrue());
	}

	@Test
	void eachFailureModeHasTests() throws IOException {
		List<List<String>> faults = Page.of("docs/failure-modes.md")
			.rows()
			.stream()
			.filter((row) -> !row.get(0).equals("fault"))
			.toList();
		assertThat(faults).hasSizeGreaterThan(50).allSatisfy((row) -> assertThat(row).hasSize(4));
		assertEachRowHasTests("failure-modes.md", faults);
	}

	@Test
	void eachUseBesideAnotherToolHasTests() throws IOException {
		assertEachRowHasTests("alternatives.md",
				Page.of("docs/alternatives.md")
					.rows()
					.stream()
					.filter((row) -> !row.get(0).equals("you have"))
					.takeWhile((row) -> row.size() == 3)
					.toList());
	}

	/** The ratios of requests and of processor time stand in one row of the figures. */
	@Test
	void ratiosAreThoseOfTheFigures() {
		Pattern median = Pattern.compile("(\\d+\\.\\d\\d) \\(.*");
		List<String> measured = Page.of(FIGURES + "warm.md")
			.rows()
			.stream()
			.filter((row) -> row.size() == 6 && median.matcher(row.get(1)).matches())
			.map((row) -> median.matcher(row.get(1)).replaceAll("$1") + " "
					+ median.matcher(row.get(2)).replaceAll("$1"))
			.toList();
		assertThat(Page.of("docs/performance.md").rows())
			.filteredOn((row) -> row.size() == 4 && row.get(2).matches("\\d\\.\\d\\d"))
			.hasSizeGreaterThan(15)
			.allSatisfy((row) -> assertThat(measured).contains(row.get(2) + " " + row.get(3)));
	}

	@Test
	void sizesOfRecordsAreThoseOfTheFigures() {
		Page figures = Page.of(FIGURES + "records.md");
		Matcher result = Pattern.compile("body of 200 bytes: (\\d+) with").matcher(figures.text());
		assertThat(result.find()).isTrue();
		Map<String, String> formulas = Page.of("docs/capacity.md")
			.rows()
			.stream()
			.filter((row) -> row.size() == 2)
			.collect(Collectors.toMap((row) -> row.get(0), (row) -> row.get(1)));
		Map.of("Redis memory", "Redis, its whole memory", "PostgreSQL disk", "PostgreSQL, before a vacuum")
			.forEach((resource, measured) -> {
				int bytes = figures.rows()
					.stream()
					.filter((row) -> row.get(0).equals(measured))
					.mapToInt((row) -> Integer.parseInt(row.get(1)))
					.sum();
				Matcher formula = Pattern.compile("\\((\\d+) \\+").matcher(formulas.get(resource));
				assertThat(formula.find()).isTrue();
				assertThat(Integer.parseInt(formula.group(1))).as(resource)
					.isCloseTo(bytes - Integer.parseInt(result.group(1)), within(10));
			});
	}

	private static void assertEachRowHasTests(String page, List<List<String>> rows) throws IOException {
		String all = new ClassPathResource("tests-of-rows.txt").getContentAsString(StandardCharsets.UTF_8);
		String section = all.substring(all.indexOf("[" + page + "]\n")).split("\n\\[")[0];
		Map<String, String> tests = section.lines()
			.skip(1)
			.map((line) -> line.split(" => "))
			.collect(Collectors.toMap((row) -> row[0], (row) -> row[1]));
		assertThat(rows.stream().map((row) -> row.get(0).replace("**", "")))
			.containsExactlyInAnyOrderElementsOf(tests.keySet());
		assertThat(tests.values()).allSatisfy((named) -> assertThat(named.split(", ")).allSatisfy((test) -> {
			String[] parts = test.split("#");
			assertThat(Sources.has(parts[0], (parts.length == 2) ? parts[1] : "")).as(test).isTrue();
		}));
	}

	private static void assertEachNamesATest(List<List<String>> rows, int more) {
		assertThat(rows).filteredOn((row) -> !row.get(row.size() - 1).equals("shown by"))
			.hasSizeGreaterThan(more)
			.allSatisfy((row) -> assertThat(row).last().asString().containsPattern(NAMED_TEST));
	}

	private static IdempotencyException problem(Class<?> type) {
		if (type == IdempotencyStoreUnavailableException.class) {
			return IdempotencyStoreUnavailableException.notExecuted("", Duration.ofSeconds(1), null);
		}
		try {
			Constructor<?> constructor = type.getConstructors()[0];
			Object[] arguments = Arrays.stream(constructor.getParameterTypes())
				.map(DocumentationTests::argument)
				.toArray();
			return (IdempotencyException) constructor.newInstance(arguments);
		}
		catch (ReflectiveOperationException ex) {
			throw new AssertionError(ex);
		}
	}

	private static Object argument(Class<?> type) {
		if (type == long.class) {
			return 2L;
		}
		if (type == Duration.class) {
			return Duration.ofSeconds(1);
		}
		return (type == String.class) ? "" : new IllegalStateException();
	}

	@Test
	void examplesCompile(@TempDir Path output) {
		List<Block> examples = Page.all().stream().flatMap((page) -> page.blocks("java").stream()).toList();
		assertThat(examples).hasSizeGreaterThan(20);
		assertThat(JavaExamples.problems(examples, output)).isEmpty();
	}

	/**
	 * Whoever copies an example must know what to import; the root package is said in the
	 * README.
	 */
	@Test
	void examplesNameThePackagesOfTheirTypes() throws IOException {
		Map<String, String> packages = new TreeMap<>();
		Pattern path = Pattern.compile(".*/(io/idempotency/(?!it/).+)/(\\w+)\\.class");
		for (Resource type : new PathMatchingResourcePatternResolver()
			.getResources("classpath*:io/idempotency/*/**/*.class")) {
			Matcher place = path.matcher(type.getURL().toString());
			if (place.matches()) {
				packages.put(place.group(2), place.group(1).replace('/', '.'));
			}
		}
		assertThat(packages).containsKeys("IdempotencyScopeResolver", "KafkaBackOff", "ConcurrentDuplicates",
				"IdempotencyDataSource");
		assertThat(Page.all()).allSatisfy((page) -> {
			for (Block example : page.blocks("java")) {
				assertThat(packages.keySet()).filteredOn((type) -> example.code().matches("(?s).*\\b" + type + "\\b.*"))
					.allSatisfy((type) -> assertThat(page.text()).as(example.place())
						.containsAnyOf(packages.get(type) + "." + type, "`" + packages.get(type) + "`"));
			}
		});
		assertThat(Page.of("README.md").text()).contains("`io.idempotency`");
	}

	/**
	 * The table that somebody creates by hand from the page is the one that the library
	 * makes.
	 */
	@Test
	void tableIsThatOfTheScript() throws IOException {
		String script = Files.readString(Page.ROOT.resolve(
				"stores/idempotency-sql/src/main/resources/io/idempotency/store/sql/schema/postgresql/R__idempotency_record.sql"));
		assertThat(Page.of("docs/store-jdbc.md").blocks("sql")).extracting(Block::code).contains(script);
	}

	@ParameterizedTest
	@MethodSource("io.idempotency.it.docs.Page#all")
	void sentencesAreShort(Page page) {
		assertThat(page.sentences()).filteredOn((sentence) -> sentence.split(" ").length > MAX_SENTENCE).isEmpty();
	}

	/** A page that needs more words says something twice, or belongs to another page. */
	@Test
	void pagesKeepTheirBoundOfWords() throws IOException {
		Map<String, Integer> bounds = new ClassPathResource("words-of-pages.txt")
			.getContentAsString(StandardCharsets.UTF_8)
			.lines()
			.filter((line) -> !line.startsWith("#"))
			.map((line) -> line.split(" "))
			.collect(Collectors.toMap((line) -> line[0], (line) -> Integer.valueOf(line[1])));
		List<Page> pages = Stream
			.concat(Page.all().stream(), Stream.of("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md").map(Page::of))
			.toList();
		assertThat(pages).allSatisfy((page) -> {
			assertThat(bounds).as("words-of-pages.txt").containsKey(page.toString());
			assertThat(page.words()).as(page.toString()).isLessThanOrEqualTo(bounds.get(page.toString()));
		});
		assertThat(pages.stream().mapToInt(Page::words).sum()).isLessThanOrEqualTo(MAX_WORDS);
	}

	@Test
	void wrongExamplesDoNotCompile(@TempDir Path output) {
		List<Block> wrong = Stream
			.of("@Idempotent(keys = \"#id\")\n", "class Pay {\n\tIdempotencyLock lock;\n}\n", "call.fencingToken();\n",
					"package shop;\n\nclass Pay {\n\tUUID id;\n}\n")
			.map((code) -> new Block("page", "java", code))
			.toList();
		assertThat(JavaExamples.problems(wrong, output)).hasSizeGreaterThanOrEqualTo(wrong.size());
	}

	/** The sample compiles and runs them. */
	@Test
	void kotlinExamplesAreThoseOfTheSample() throws IOException {
		String sources = sources(Page.ROOT.resolve("idempotency-samples/kotlin/src/main/kotlin"));
		List<Block> examples = Page.all()
			.stream()
			.flatMap((page) -> page.blocks("kotlin").stream())
			.filter((block) -> !isForGradle(block))
			.toList();
		assertThat(examples).hasSizeGreaterThan(1)
			.allSatisfy((example) -> assertThat(sources).as(example.place()).contains(example.code()));
	}

	private static String sources(Path folder) throws IOException {
		try (Stream<Path> files = Files.walk(folder)) {
			StringBuilder all = new StringBuilder();
			for (Path file : files.filter((path) -> path.toString().endsWith(".kt")).toList()) {
				all.append(Files.readString(file));
			}
			return all.toString();
		}
	}

	private static boolean isForGradle(Block block) {
		return block.code().contains("dependencies {");
	}

	/** No Maven repository has Gradle to run them. */
	@Test
	void examplesForGradleNameWhatThoseForMavenName() {
		Set<String> forMaven = Page.all()
			.stream()
			.flatMap((page) -> MAVEN_ARTIFACT.matcher(page.text()).results())
			.map((artifact) -> artifact.group(1) + ":" + artifact.group(2)
					+ ((artifact.group(3) != null) ? ":" + artifact.group(3) : ""))
			.collect(Collectors.toSet());
		List<Block> examples = Page.all()
			.stream()
			.flatMap((page) -> page.blocks("kotlin", "groovy").stream())
			.filter(DocumentationTests::isForGradle)
			.toList();
		assertThat(examples).hasSizeGreaterThan(2)
			.allSatisfy((example) -> assertThat(example.code()).as(example.place())
				.contains("mavenLocal()")
				.contains("mavenCentral()"));
		assertThat(Page.all().stream().flatMap((page) -> GRADLE_ARTIFACT.matcher(page.text()).results()))
			.hasSizeGreaterThan(examples.size())
			.allSatisfy((artifact) -> assertThat(forMaven).contains(artifact.group(1)));
		assertThat(examples.stream().flatMap((example) -> GRADLE_BOOT.matcher(example.code()).results())).isNotEmpty()
			.allSatisfy((plugin) -> assertThat(forMaven)
				.contains("org.springframework.boot:spring-boot-starter-parent:" + plugin.group(1)));
	}

}
