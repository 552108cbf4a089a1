package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import io.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseBody;

/** What the client asks for is not what is guarded, but leads there. */
@Controller
class DispatchesController {

	private final Runs runs;

	DispatchesController(Runs runs) {
		this.runs = runs;
	}

	@PostMapping("/forwarded/{id}")
	public String forward(@PathVariable int id, HttpServletRequest request) {
		request.setAttribute("id", id);
		return "forward:/internal/pay";
	}

	@PostMapping("/forwarded-twice/{id}")
	public String forwardTwice(@PathVariable int id, HttpServletRequest request) {
		request.setAttribute("id", id);
		return "forward:/internal/forward";
	}

	@PostMapping("/internal/forward")
	public String again() {
		return "forward:/internal/pay";
	}

	@PostMapping("/dispatched/{id}")
	public void dispatch(@PathVariable int id, HttpServletRequest request, HttpServletResponse response) {
		request.setAttribute("id", id);
		request.startAsync().dispatch("/internal/pay");
	}

	@PostMapping("/forwarded-and-dispatched/{id}")
	public String forwardAndDispatch(@PathVariable int id, HttpServletRequest request) {
		request.setAttribute("id", id);
		return "forward:/internal/dispatch";
	}

	@PostMapping("/internal/dispatch")
	public void dispatch(HttpServletRequest request, HttpServletResponse response) {
		request.startAsync().dispatch("/internal/pay");
	}

	@PostMapping("/internal/pay")
	@Idempotent
	@ResponseBody
	public String pay(HttpServletRequest request) {
		this.runs.run("/internal/pay");
		return "paid " + request.getAttribute("id");
	}

	@PostMapping("/internal/reject")
	@Idempotent(header = "X-Request-Id")
	@ResponseBody
	public String reject() {
		return "never";
	}

	@PostMapping("/rejected/{id}")
	public String rejected(@PathVariable int id) {
		return "forward:/internal/reject";
	}

}
