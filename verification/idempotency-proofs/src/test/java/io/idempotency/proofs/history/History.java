package io.idempotency.proofs.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * What all processes wrote down. <pre>
 * history TIME LEASE keeps|forgets           of the whole: in microseconds, and what a fail-over may do
 * call    TIME CALL KEY VARIANT OPERATION    of clients
 * answer  TIME CALL STATUS CODE fresh|replay RUN KEY VARIANT BODY WHOLE
 * silence TIME CALL
 * start   TIME RUN KEY VARIANT OPERATION PROCESS    of nodes
 * done    TIME RUN BODY
 * failed  TIME RUN
 * stall   TIME MICROSECONDS NODE
 * fault   TIME FAULT KIND NODE               of whoever inflicts them
 * mended  TIME FAULT
 * effect  TIME KEY RUN                       what has been committed in the end
 * </pre>
 *
 * @param lease the lease of claims, in microseconds
 * @param forgets whether a fail-over may lose what it has acknowledged
 * @param runs by their names
 * @param calls all of them
 * @param faults all of them
 * @param effects the runs whose work is committed, by key
 */
record History(long lease, boolean forgets, Map<String, Run> runs, List<Call> calls, List<Fault> faults,
		Map<String, List<String>> effects) {

	static History read(Path directory) throws IOException {
		List<String> lines = new ArrayList<>();
		try (Stream<Path> files = Files.list(directory)) {
			for (Path file : files.filter((path) -> path.toString().endsWith(".journal")).sorted().toList()) {
				String text = Files.readString(file);
				// A process may be killed in the middle of its last line.
				text.substring(0, text.lastIndexOf('\n') + 1).lines().forEach(lines::add);
			}
		}
		return of(lines);
	}

	static History of(List<String> lines) {
		return new Reader(lines).history();
	}

	/** Puts together what lines say of one thing. */
	private static final class Reader {

		private final Map<String, List<String[]>> events = new HashMap<>();

		private final Map<String, String[]> ends = new HashMap<>();

		private long last;

		Reader(List<String> lines) {
			for (String line : lines) {
				String[] words = line.strip().split(" +");
				this.last = Math.max(this.last, Long.parseLong(words[1]));
				switch (words[0]) {
					case "answer", "silence", "done", "failed", "mended" -> this.ends.put(words[2], words);
					default -> this.events.computeIfAbsent(words[0], (event) -> new ArrayList<>()).add(words);
				}
			}
		}

		private List<String[]> all(String event) {
			return this.events.getOrDefault(event, List.of());
		}

		History history() {
			String[] settings = all("history").get(0);
			Map<String, Run> runs = new LinkedHashMap<>();
			all("start").stream()
				.map(this::run)
				.sorted(Comparator.comparingLong(Run::start))
				.forEach((run) -> runs.put(run.id(), run));
			List<Call> calls = all("call").stream()
				.map(this::call)
				.sorted(Comparator.comparingLong(Call::sent))
				.toList();
			List<Fault> faults = Stream
				.concat(all("fault").stream().map(this::fault), all("stall").stream().map(Reader::stall))
				.sorted(Comparator.comparingLong(Fault::from))
				.toList();
			Map<String, List<String>> effects = new HashMap<>();
			all("effect")
				.forEach((words) -> effects.computeIfAbsent(words[2], (key) -> new ArrayList<>()).add(words[3]));
			return new History(Long.parseLong(settings[2]), settings[3].equals("forgets"), runs, calls, faults,
					effects);
		}

		private Run run(String[] start) {
			String[] end = this.ends.get(start[2]);
			Run.CallOutcome ending = (end == null) ? Run.CallOutcome.NONE
					: end[0].equals("done") ? Run.CallOutcome.DONE : Run.CallOutcome.FAILED;
			return new Run(start[2], start[3], start[4], Operation.of(start[5]), start[6], time(start),
					(end != null) ? time(end) : Run.NEVER, ending, (ending == Run.CallOutcome.DONE) ? end[3] : "");
		}

		private Call call(String[] call) {
			String[] end = this.ends.get(call[2]);
			return new Call(call[2], call[3], call[4], Operation.of(call[5]), time(call),
					(end != null) ? time(end) : this.last, answer(end));
		}

		private static Call.@Nullable Reply answer(String @Nullable [] words) {
			if (words == null || !words[0].equals("answer")) {
				return null;
			}
			return new Call.Reply(Integer.parseInt(words[3]), words[4], words[5].equals("replay"), words[6], words[7],
					words[8], words[9], words[10]);
		}

		private Fault fault(String[] fault) {
			String[] end = this.ends.get(fault[2]);
			return new Fault(FaultKind.of(fault[3]), fault[4], time(fault), (end != null) ? time(end) : this.last);
		}

		private static Fault stall(String[] words) {
			return new Fault(FaultKind.STALL, words[3], time(words) - Long.parseLong(words[2]), time(words));
		}

		private static long time(String[] words) {
			return Long.parseLong(Objects.requireNonNull(words)[1]);
		}

	}

}
