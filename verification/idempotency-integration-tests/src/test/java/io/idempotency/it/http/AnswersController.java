package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.idempotency.Idempotent;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.server.ResponseStatusException;

/** Every kind of answer that a handler can give and that is kept. */
@Controller
@RequestMapping("/answers")
@Idempotent
class AnswersController {

	private final Runs runs;

	AnswersController(Runs runs) {
		this.runs = runs;
	}

	@PostMapping("/pojo")
	@ResponseBody
	public Map<String, Object> pojo() {
		return Map.of("run", this.runs.run("/answers/pojo"));
	}

	@PostMapping("/record")
	@ResponseBody
	public Receipt record() {
		return new Receipt(this.runs.run("/answers/record"), "größer", null);
	}

	@PostMapping("/null-body")
	@ResponseBody
	public @Nullable Receipt nullBody() {
		this.runs.run("/answers/null-body");
		return null;
	}

	@PostMapping(path = "/bytes", produces = MediaType.APPLICATION_OCTET_STREAM_VALUE)
	@ResponseBody
	public byte[] bytes() {
		this.runs.run("/answers/bytes");
		byte[] bytes = new byte[256];
		for (int i = 0; i < bytes.length; i++) {
			bytes[i] = (byte) i;
		}
		return bytes;
	}

	@PostMapping("/resource")
	public ResponseEntity<Resource> resource() {
		int run = this.runs.run("/answers/resource");
		return ResponseEntity.ok()
			.header("Content-Disposition", "attachment; filename=\"receipt.txt\"")
			.contentType(MediaType.TEXT_PLAIN)
			.body(new ByteArrayResource(("run " + run).getBytes(StandardCharsets.UTF_8)));
	}

	@PostMapping(path = "/text", produces = "text/plain;charset=UTF-8")
	@ResponseBody
	public String text() {
		return "Grüße " + this.runs.run("/answers/text");
	}

	@PostMapping("/number")
	@ResponseBody
	public int number() {
		return this.runs.run("/answers/number");
	}

	@PostMapping("/false")
	@ResponseBody
	public boolean falsy() {
		return this.runs.run("/answers/false") > 1;
	}

	@PostMapping("/created")
	public ResponseEntity<Receipt> created() {
		int run = this.runs.run("/answers/created");
		return ResponseEntity.created(URI.create("/receipts/" + run))
			.eTag("\"v" + run + "\"")
			.header("X-Many", "one", "two")
			.header("Set-Cookie", "secret=1")
			.body(new Receipt(run, "created", null));
	}

	@PostMapping("/content-length")
	public ResponseEntity<byte[]> contentLength() {
		byte[] body = ("run " + this.runs.run("/answers/content-length")).getBytes(StandardCharsets.UTF_8);
		return ResponseEntity.ok().contentLength(body.length).contentType(MediaType.TEXT_PLAIN).body(body);
	}

	@PostMapping("/no-content")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	public void noContent() {
		this.runs.run("/answers/no-content");
	}

	@PostMapping("/view")
	public String view(Model model) {
		model.addAttribute("run", this.runs.run("/answers/view"));
		return "receipt";
	}

	@PostMapping("/redirect")
	public String redirect() {
		return "redirect:/receipts/" + this.runs.run("/answers/redirect");
	}

	@PostMapping("/send-redirect")
	public void sendRedirect(HttpServletResponse response) throws IOException {
		response.sendRedirect("/receipts/" + this.runs.run("/answers/send-redirect"));
	}

	@PostMapping("/forward")
	public String forward() {
		this.runs.run("/answers/forward");
		return "forward:/answers/forwarded";
	}

	@PostMapping("/writer")
	public void writer(HttpServletResponse response) throws IOException {
		response.setContentType("text/plain;charset=UTF-8");
		response.getWriter().print("Zeile " + this.runs.run("/answers/writer") + " äöü");
		response.flushBuffer();
		response.getWriter().print(" und Schluss");
	}

	@PostMapping("/writer-default-charset")
	public void writerDefaultCharset(HttpServletResponse response) throws IOException {
		response.setContentType("text/plain");
		response.getWriter().print("äöü " + this.runs.run("/answers/writer-default-charset"));
	}

	@PostMapping("/stream")
	public void stream(HttpServletResponse response) throws IOException {
		response.setContentType("application/octet-stream");
		response.getOutputStream().write(0);
		response.getOutputStream().flush();
		response.getOutputStream().write(new byte[] { 1, 2, (byte) this.runs.run("/answers/stream") });
		response.getOutputStream().close();
	}

	@PostMapping("/locale")
	public void locale(HttpServletResponse response) throws IOException {
		response.setLocale(Locale.GERMANY);
		response.setContentType("text/plain;charset=UTF-8");
		response.getWriter().print("Lauf " + this.runs.run("/answers/locale"));
	}

	@PostMapping("/handler-cache-control")
	public ResponseEntity<String> cacheControl() {
		this.runs.run("/answers/handler-cache-control");
		return ResponseEntity.ok().header("Cache-Control", "private, max-age=5").body("cached");
	}

	@PostMapping("/cookie")
	@ResponseBody
	public String cookie(HttpServletResponse response) {
		response.addCookie(new Cookie("session", "secret"));
		return "run " + this.runs.run("/answers/cookie");
	}

	@PostMapping("/exception-handler")
	@ResponseBody
	public String exceptionHandler() {
		throw new ErrorAnswers.OutOfStockException("sold out in run " + this.runs.run("/answers/exception-handler"));
	}

	@PostMapping("/response-status-exception")
	@ResponseBody
	public String responseStatusException() {
		throw new ResponseStatusException(HttpStatus.CONFLICT,
				"taken in run " + this.runs.run("/answers/response-status-exception"));
	}

	@PostMapping("/send-error")
	public void sendError(HttpServletResponse response) throws IOException {
		response.sendError(409, "taken in run " + this.runs.run("/answers/send-error"));
	}

	@PostMapping("/list")
	@ResponseBody
	public List<Receipt> list() {
		return List.of(new Receipt(this.runs.run("/answers/list"), "a", List.of("x")));
	}

	record Receipt(int run, String text, @Nullable List<String> items) {
	}

}
