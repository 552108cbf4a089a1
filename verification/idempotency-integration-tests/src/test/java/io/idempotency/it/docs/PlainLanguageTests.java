package io.idempotency.it.docs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the words of this project: comments and strings of the published modules, the
 * property metadata and the documentation use the terms of the field.
 */
class PlainLanguageTests {

	/** The words that are not used, with what to write. */
	private static final Map<Pattern, String> WORDS = words();

	private static final Pattern TEXTS = Pattern.compile("\"((?:[^\"\\\\\\n]|\\\\.)*)\"|//([^\\n]*)|/\\*(.*?)\\*/",
			Pattern.DOTALL);

	private static final Pattern JAVADOC_CODE = Pattern
		.compile("\\{@\\w+ [^}]*\\}|`[^`]*`|<code>.*?</code>|@(?:param|return|throws|see|link)\\s+\\S*");

	private static final Pattern MARKDOWN_CODE = Pattern
		.compile("(?ms)^\\s*```.*?^\\s*```|`[^`\\n]*`|\\]\\([^)\\n]*\\)");

	private static Map<Pattern, String> words() {
		Map<String, String> words = new LinkedHashMap<>();
		words.put("doors?", "adapter");
		words.put("unattended", "detached");
		words.put("tombstones?", "completed without a stored result");
		words.put("refus(?:e|es|ed|al|als|ing)", "reject");
		words.put("mend(?:s|ed|ing)?", "fix");
		words.put("cures?", "fix, action");
		words.put("told|tells? of", "logged, reported");
		words.put("hangs? up|hung up", "disconnect");
		words.put("under way|goes? on|go on", "in progress, continues");
		words.put("beats?", "heartbeat, renewal");
		words.put("dear|anew|likewise|hereafter|but for|save for|put by|gives? way", "plain English");
		words.put("nobody|somebody|whoever|he|his|him", "the caller, client or thread");
		words.put("left to (?:its|the) lease", "stays claimed until the lease expires");
		words.put("(?:is|are|was|were) (?:no(?! longer)|none)", "a negated verb");
		words.put("key is free|free[sd]? (?:its|the|a) key|gives? (?:its|the|a) key back", "release the key");
		words.put("(?:the )?answers?", "response, result");
		words.put("fence", "fencing token");
		words.put("time-outs?|clean-ups?|look-ups?|fail-overs?|start-ups?|back-offs?|roll-backs?",
				"timeout, cleanup, lookup, failover, startup, backoff, rollback");
		words.put("rooms?", "space, module");
		words.put("behind (?:the|its|a) commit", "after the commit");
		words.put("takes? it for|taken for", "treat as");
		Map<Pattern, String> patterns = new LinkedHashMap<>();
		words.forEach((word, plain) -> patterns.put(Pattern.compile("\\b(?:" + word + ")\\b", Pattern.CASE_INSENSITIVE),
				plain));
		return patterns;
	}

	@Test
	void textsUseTheTermsOfTheField() throws IOException {
		List<String> allowed = new ClassPathResource("allowed-words.txt").getContentAsString(StandardCharsets.UTF_8)
			.lines()
			.filter((line) -> !line.isBlank() && !line.startsWith("#"))
			.map((line) -> line.split(" => ")[0])
			.toList();
		List<String> found = new ArrayList<>();
		for (Path file : files()) {
			for (String text : texts(file)) {
				WORDS.forEach((word, plain) -> {
					Matcher matcher = word.matcher(text);
					while (matcher.find()) {
						String place = Page.ROOT.relativize(file) + ": " + matcher.group().toLowerCase();
						if (!allowed.contains(place)) {
							found.add(place + " (write: " + plain + ") in: " + text.strip().replaceAll("\\s+", " "));
						}
					}
				});
			}
		}
		assertThat(found).isEmpty();
	}

	private static List<Path> files() throws IOException {
		try (Stream<Path> files = Files.walk(Page.ROOT)) {
			return files.filter(Files::isRegularFile).filter((file) -> isText(Page.ROOT.relativize(file))).toList();
		}
	}

	private static boolean isText(Path file) {
		String path = file.toString().replace('\\', '/');
		if (path.contains("target/") || path.startsWith("verification/") || path.contains("node_modules/")
				|| path.startsWith(".")) {
			return false;
		}
		return path.endsWith(".md") || path.contains("src/main/")
				&& (path.endsWith(".java") || path.endsWith("spring-configuration-metadata.json"));
	}

	private static List<String> texts(Path file) throws IOException {
		String content = Files.readString(file);
		if (file.toString().endsWith(".md")) {
			return MARKDOWN_CODE.matcher(content).replaceAll("`").lines().toList();
		}
		if (file.toString().endsWith(".json")) {
			return content.lines().filter((line) -> line.contains("\"description\"")).toList();
		}
		List<String> texts = new ArrayList<>();
		Matcher matcher = TEXTS.matcher(content);
		while (matcher.find()) {
			String string = matcher.group(1);
			if (string == null) {
				String comment = (matcher.group(2) != null) ? matcher.group(2) : matcher.group(3);
				texts.add(JAVADOC_CODE.matcher(comment.replaceAll("\\n\\s*\\*", " ")).replaceAll(""));
			}
			else if (string.contains(" ")) {
				texts.add(string);
			}
		}
		return texts;
	}

}
