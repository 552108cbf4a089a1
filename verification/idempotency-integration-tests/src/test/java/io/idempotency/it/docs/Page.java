package io.idempotency.it.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A page of the documentation.
 *
 * @param path where it is, below the root of the project
 * @param text all of it
 */
record Page(Path path, String text) {

	static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

	private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w*)$\\n(.*?)^```$");

	private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");

	private static final Pattern ANCHOR = Pattern.compile("<a id=\"([^\"]+)\">");

	static Page of(String path) {
		return of(ROOT.resolve(path));
	}

	private static Page of(Path file) {
		try {
			return new Page(ROOT.relativize(file), Files.readString(file));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** What users read. */
	static List<Page> all() {
		try (Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
			Stream<Path> pages = docs.filter((file) -> file.toString().endsWith(".md")).sorted();
			return Stream.concat(Stream.of(ROOT.resolve("README.md")), pages).map(Page::of).toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** The blocks of code in one of the languages. */
	List<Block> blocks(String... languages) {
		return BLOCK.matcher(this.text)
			.results()
			.filter((block) -> List.of(languages).contains(block.group(1)))
			.map(this::block)
			.toList();
	}

	private Block block(MatchResult block) {
		long line = this.text.substring(0, block.start()).lines().count() + 1;
		return new Block(this.path + ":" + line, block.group(1), block.group(2));
	}

	/** How many words it has, with those of its examples, as {@code wc -w} counts. */
	int words() {
		return this.text.strip().split("\\s+").length;
	}

	String withoutBlocks() {
		return BLOCK.matcher(this.text).replaceAll("");
	}

	/** The cells of the rows of all tables. */
	List<List<String>> rows() {
		return withoutBlocks().lines()
			.filter((line) -> line.startsWith("| "))
			.map((line) -> Stream.of(line.substring(1).split("\\|")).map(String::strip).toList())
			.toList();
	}

	/**
	 * The sentences, with single blanks between words; a cell of a table and an item of a
	 * list end one, too. What a link leads to is no word of it.
	 */
	List<String> sentences() {
		String text = withoutBlocks().replaceAll("(?m)^> (\\[!\\w+\\])?", "")
			.replaceAll("\\]\\([^)]*\\)", "]")
			.replaceAll("(?m)^(#+ |\\||[-*] |\\d+\\. |$)", "\u0000")
			.replace('|', '\u0000')
			.replaceAll("(?<=[.!?])[\"*)]*\\s+(?=[A-Z`*\\[\"(])", "\u0000");
		return Stream.of(text.split("\u0000"))
			.map((sentence) -> sentence.strip().replaceAll("\\s+", " "))
			.filter((sentence) -> !sentence.isEmpty())
			.toList();
	}

	/**
	 * What links may point at, as GitHub makes it of headings, and anchors of its own.
	 */
	List<String> anchors() {
		Stream<String> headings = HEADING.matcher(withoutBlocks())
			.results()
			.map((heading) -> heading.group(1).toLowerCase(Locale.ROOT))
			.map((heading) -> heading.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'));
		return Stream.concat(headings, ANCHOR.matcher(this.text).results().map((anchor) -> anchor.group(1))).toList();
	}

	@Override
	public String toString() {
		return this.path.toString();
	}

	/**
	 * A block of code.
	 *
	 * @param place where it is, for messages
	 * @param language its language
	 * @param code its text
	 */
	record Block(String place, String language, String code) {

		@Override
		public String toString() {
			return this.place;
		}

	}

}
