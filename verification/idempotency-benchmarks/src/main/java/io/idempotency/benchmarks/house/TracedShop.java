package io.idempotency.benchmarks.house;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.ClassType;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Method;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.IllegalConnectorArgumentsException;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.MethodEntryEvent;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.MethodEntryRequest;

import io.idempotency.benchmarks.house.Way.Entry;
import io.idempotency.benchmarks.house.Way.Frame;

/** The packaged shop in a process of its own, whose debugger this is. */
final class TracedShop implements AutoCloseable {

	private static final Pattern DEBUGGER = Pattern.compile("dt_socket at address: (\\d+)");

	private static final Pattern READY = Pattern.compile("Shop is ready on http://localhost:(\\d+)/");

	private static final int WARM_UP = 50;

	/** How long to wait for a further entry before looking whether the call has ended. */
	private static final long PATIENCE = 500;

	private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private final Process process;

	private final BufferedReader out;

	private final VirtualMachine machine;

	private final int port;

	TracedShop(Path jar, List<String> arguments) throws IOException {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(List.of("-Xmx512m", "-XX:TieredStopAtLevel=1",
				"-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0"));
		command.addAll(List.of("-jar", jar.toString(), "--server.port=0"));
		command.addAll(arguments);
		this.process = new ProcessBuilder(command).redirectErrorStream(true).start();
		this.out = this.process.inputReader(StandardCharsets.UTF_8);
		try {
			int debugger = numberAfter(DEBUGGER);
			this.port = numberAfter(READY);
			this.machine = attach(debugger);
		}
		catch (IOException ex) {
			close();
			throw ex;
		}
	}

	private int numberAfter(Pattern pattern) throws IOException {
		StringBuilder said = new StringBuilder();
		for (String line = this.out.readLine(); line != null; line = this.out.readLine()) {
			Matcher matcher = pattern.matcher(line);
			if (matcher.find()) {
				return Integer.parseInt(matcher.group(1));
			}
			said.append(line).append('\n');
		}
		throw new IOException("The shop does not start:\n" + said);
	}

	/** Traces a call that has a new key, after others. */
	Way fresh() throws Exception {
		for (int i = 0; i < WARM_UP; i++) {
			order(newKey()).join();
		}
		return trace(newKey());
	}

	/** Traces a duplicate of a call that has ended, after others. */
	Way replay() throws Exception {
		String key = newKey();
		for (int i = 0; i < WARM_UP; i++) {
			order(key).join();
		}
		return trace(key);
	}

	private static String newKey() {
		return UUID.randomUUID().toString();
	}

	private Way trace(String key) throws Exception {
		List<MethodEntryRequest> entries = List.of(enter("io.idempotency.*", "io.idempotency.samples.*"),
				// Those of drivers, and of pools around them: one is the first.
				enter("*PreparedStatement", "io.idempotency.*"));
		entries.forEach(MethodEntryRequest::enable);
		try {
			return entriesUntilEndOf(order(key));
		}
		finally {
			this.machine.eventRequestManager().deleteEventRequests(entries);
		}
	}

	private CompletableFuture<Void> order(String key) {
		HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + this.port + "/api/orders"))
			.header("Idempotency-Key", key)
			.header("Content-Type", "application/json")
			.POST(BodyPublishers.ofString("{\"sku\":\"sku-1\",\"quantity\":1}"))
			.build();
		return this.client.sendAsync(request, BodyHandlers.discarding()).thenAccept((answer) -> {
			if (answer.statusCode() != 201) {
				throw new IllegalStateException("The order was answered with " + answer.statusCode());
			}
		});
	}

	private static VirtualMachine attach(int debugger) throws IOException {
		AttachingConnector connector = Bootstrap.virtualMachineManager()
			.attachingConnectors()
			.stream()
			.filter((each) -> each.name().equals("com.sun.jdi.SocketAttach"))
			.findFirst()
			.orElseThrow();
		Map<String, Connector.Argument> arguments = connector.defaultArguments();
		arguments.get("hostname").setValue("127.0.0.1");
		arguments.get("port").setValue(Integer.toString(debugger));
		try {
			return connector.attach(arguments);
		}
		catch (IllegalConnectorArgumentsException ex) {
			throw new IOException(ex);
		}
	}

	private MethodEntryRequest enter(String classes, String butNot) {
		MethodEntryRequest request = this.machine.eventRequestManager().createMethodEntryRequest();
		request.addClassFilter(classes);
		request.addClassExclusionFilter(butNot);
		request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
		return request;
	}

	private Way entriesUntilEndOf(CompletableFuture<Void> call) throws Exception {
		Map<ThreadReference, List<Entry>> entries = new LinkedHashMap<>();
		EventSet events = this.machine.eventQueue().remove(PATIENCE);
		while (events != null || !call.isDone()) {
			if (events != null) {
				for (Event event : events) {
					add((MethodEntryEvent) event, entries);
				}
				events.resume();
			}
			events = this.machine.eventQueue().remove(PATIENCE);
		}
		call.join();
		// The others renew, remove and the like, whoever calls.
		return entries.values()
			.stream()
			.map(Way::new)
			.filter((way) -> way.entries().stream().anyMatch((entry) -> entry.type().endsWith("IdempotencyFilter")))
			.findFirst()
			.orElseThrow(() -> new IllegalStateException("The call did not pass the filter"));
	}

	private static void add(MethodEntryEvent event, Map<ThreadReference, List<Entry>> entries)
			throws IncompatibleThreadStateException {
		List<Frame> stack = new ArrayList<>();
		for (StackFrame frame : event.thread().frames()) {
			stack.add(new Frame(frame.location().declaringType().name(), frame.location().method().name()));
		}
		if (stack.get(0).isOwn() || stack.get(0).method().startsWith("execute")) {
			entries.computeIfAbsent(event.thread(), (thread) -> new ArrayList<>())
				.add(new Entry(stack, isAccessor(event.method())));
		}
	}

	private static boolean isAccessor(Method method) {
		return method.declaringType() instanceof ClassType type && type.superclass() != null
				&& type.superclass().name().equals("java.lang.Record") && !method.isStatic()
				&& type.fieldByName(method.name()) != null && method.argumentTypeNames().isEmpty();
	}

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
