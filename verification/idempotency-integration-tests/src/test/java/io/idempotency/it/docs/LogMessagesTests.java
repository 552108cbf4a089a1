package io.idempotency.it.docs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.idempotency.it.docs.Sources.Message;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/** Compares the log messages of the published sources with their page. */
class LogMessagesTests {

	private static final Pattern SECTION = Pattern
		.compile("(?m)^### (IDEM-\\d{3}) (.+)\\R\\R(WARN|ERROR): `(.+)`\\R\\R- Meaning: (.+)\\R- Action: (.+)$");

	private static final Pattern ID = Pattern.compile("IDEM-\\d{3}");

	private static final Set<String> HEADERS = Set.of("`code`", "health", "symptom");

	private static final int MAX_SENTENCE = 25;

	private static final int MAX_WORDS = 2_800;

	private final List<Message> messages = Sources.messages();

	private final Page page = Page.of("docs/log-messages.md");

	@Test
	void eachWarningAndErrorHasAnId() {
		assertThat(this.messages).hasSizeGreaterThan(50);
		assertThat(Sources.loggingWithoutId()).isEmpty();
	}

	/** Two web stacks may log the same fact. */
	@Test
	void eachIdHasOneMessage() {
		Map<String, List<String>> texts = this.messages.stream()
			.collect(Collectors.groupingBy(Message::id, TreeMap::new,
					Collectors.mapping((message) -> message.level() + " " + message.text(),
							Collectors.collectingAndThen(Collectors.toSet(), List::copyOf))));
		assertThat(texts).allSatisfy((id, known) -> assertThat(known).as(id).hasSize(1));
		assertThat(this.messages.stream().map(Message::text).distinct()).hasSameSizeAs(texts.keySet());
	}

	@Test
	void writesTheCatalogue() throws IOException {
		Path catalogue = Path.of("target", "log-messages.tsv");
		Files.createDirectories(catalogue.getParent());
		Files.write(catalogue,
				this.messages.stream()
					.map((message) -> String.join("\t", message.id(), message.level(), message.type(), message.text()))
					.toList());
		assertThat(catalogue).isNotEmptyFile();
	}

	@Test
	void pageHasEachMessageInOrder() {
		List<MatchResult> sections = SECTION.matcher(this.page.text()).results().toList();
		assertThat(sections.stream().map((section) -> section.group(1)))
			.containsExactlyElementsOf(this.messages.stream().map(Message::id).distinct().toList());
		assertThat(sections).allSatisfy(
				(section) -> assertThat(this.messages).filteredOn((message) -> message.id().equals(section.group(1)))
					.allSatisfy((message) -> {
						assertThat(message.level()).as(message.id()).isEqualTo(section.group(3));
						assertThat(message.text()).as(message.id()).startsWith(section.group(4));
					}));
	}

	@Test
	void pagesNameOnlyKnownIds() {
		List<String> known = this.messages.stream().map(Message::id).toList();
		assertThat(Page.all())
			.allSatisfy((any) -> assertThat(ID.matcher(any.text()).results().map(MatchResult::group)).as(any.toString())
				.isSubsetOf(known));
	}

	@Test
	void pageIsShort() {
		assertThat(this.page.text().strip().split("\\s+")).hasSizeLessThanOrEqualTo(MAX_WORDS);
		assertThat(SECTION.matcher(this.page.text()).results()).allSatisfy((section) -> assertThat(
				new Page(this.page.path(), section.group(5) + "\n\n" + section.group(6)).sentences())
			.allSatisfy(
					(sentence) -> assertThat(sentence.split(" ")).as(sentence).hasSizeLessThanOrEqualTo(MAX_SENTENCE)));
	}

	@Test
	void eachMessageHasATest() throws IOException {
		assertHaveTests("log-messages.md", this.messages.stream().map(Message::id).collect(Collectors.toSet()));
	}

	@Test
	void eachRowOfTroubleshootingHasATest() throws IOException {
		assertHaveTests("troubleshooting.md",
				Page.of("docs/troubleshooting.md")
					.rows()
					.stream()
					.map((row) -> row.get(0))
					.filter((first) -> !HEADERS.contains(first))
					.collect(Collectors.toSet()));
	}

	private static void assertHaveTests(String page, Set<String> rows) throws IOException {
		String all = new ClassPathResource("tests-of-messages.txt").getContentAsString(StandardCharsets.UTF_8);
		Map<String, String> tests = all.substring(all.indexOf("[" + page + "]\n")).split("\n\\[")[0].lines()
			.filter((line) -> line.contains(" => "))
			.map((line) -> line.split(" => "))
			.collect(Collectors.toMap((row) -> row[0], (row) -> row[1]));
		assertThat(rows).containsExactlyInAnyOrderElementsOf(tests.keySet());
		assertThat(tests.values()).allSatisfy((named) -> assertThat(named.split(", ")).allSatisfy((test) -> {
			String[] parts = test.split("#");
			assertThat(Sources.has(parts[0], (parts.length == 2) ? parts[1] : "")).as(test).isTrue();
		}));
	}

}
