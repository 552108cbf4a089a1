package io.idempotency.benchmarks.report;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A JVM of its own, killed when it is closed. */
final class OtherProcess implements AutoCloseable {

	private final Process process;

	private final BufferedReader in;

	private final PrintStream out;

	private OtherProcess(Process process) {
		this.process = process;
		this.in = process.inputReader(StandardCharsets.UTF_8);
		this.out = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
	}

	static OtherProcess java(Jdk jdk, String classPath, Class<?> main, List<String> arguments) throws IOException {
		List<String> command = new ArrayList<>();
		command.add(jdk.home().resolve("bin").resolve("java").toString());
		command.addAll(List.of(System.getProperty("jvm." + main.getSimpleName(), "-Xmx2g").split(" ")));
		command.addAll(List.of("-cp", classPath, main.getName()));
		command.addAll(arguments);
		return new OtherProcess(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
	}

	void send(String line) {
		this.out.println(line);
	}

	String line() throws IOException {
		String line = this.in.readLine();
		if (line == null) {
			throw new IOException("The other process has ended");
		}
		return line;
	}

	String lineWith(String beginning) throws IOException {
		String line = line();
		while (!line.startsWith(beginning)) {
			line = line();
		}
		return line;
	}

	/** Waits for its end, because its heap and its port are in the way of the next. */
	@Override
	public void close() {
		try {
			this.process.destroyForcibly().waitFor();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
