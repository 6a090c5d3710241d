// The kernel as Python sees it. Nothing here decides anything: it converts, locks, and lets go of the GIL in long calls.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "matcher.hpp"

namespace nb = nanobind;
using namespace constrain;
using namespace nb::literals;

namespace {

std::string_view view(const nb::bytes& b) { return {static_cast<const char*>(b.data()), b.size()}; }
nb::bytes to_bytes(const std::string& s) { return nb::bytes(s.data(), s.size()); }

ByteSet byte_set(const nb::bytes& b) {
  ByteSet set;
  for (char c : view(b)) set.add(static_cast<u8>(c));
  return set;
}

nb::bytes listed(const ByteSet& set) {
  std::string out;
  set.each([&](u8 b) { out.push_back(static_cast<char>(b)); });
  return to_bytes(out);
}

// Without ever waiting for the lock while holding the GIL: whoever holds the lock may want the GIL.
template <class F>
auto locked(Compiled& g, F&& f) {
  std::unique_lock lock(g.mutex, std::try_to_lock);
  if (!lock.owns_lock()) {
    nb::gil_scoped_release release;
    lock.lock();
  }
  return f();
}

template <class F>
auto locked_without_gil(Compiled& g, F&& f) {
  nb::gil_scoped_release release;
  std::lock_guard lock(g.mutex);
  return f();
}

using Row = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;

u32* row_of(Compiled& g, Row& row) {
  if (row.itemsize() != 4 || row.dtype().code == static_cast<u8>(nb::dlpack::dtype_code::Float))
    throw nb::type_error("a mask row holds int32");
  if (row.shape(0) != g.vocab->words()) throw nb::value_error("a mask row has ceil(vocabulary size / 32) words");
  return static_cast<u32*>(row.data());
}

void fill(Matcher& m, u32* row) {
  Compiled& g = m.grammar();
  if (m.terminated()) {
    std::memset(row, 0, g.vocab->words() * 4);
    return;
  }
  {
    std::unique_lock lock(g.mutex, std::try_to_lock);
    if (lock.owns_lock() && !g.reach && g.masks->is_cached(m.state())) {
      g.masks->fill(m.state(), row);
      return;
    }
  }
  locked_without_gil(g, [&] { g.fill(m.state(), row); });
}

using Ways = std::vector<std::pair<Gram, std::vector<u32>>>;              // value, counters
using Conditions = std::vector<std::vector<std::tuple<u32, u32, bool>>>;  // counter, least, reached

std::vector<Way> ways_of(const Ways& list) {
  std::vector<Way> ways;
  for (const auto& [value, counters] : list) ways.push_back({value, counters});
  return ways;
}

Counting counting_of(const Conditions& list) {
  Counting counting;
  for (const auto& condition : list) {
    auto& bounds = counting.conditions.emplace_back();
    for (const auto& [counter, least, reached] : condition) bounds.push_back({counter, least, reached});
  }
  return counting;
}

PyObject* limit_error = nullptr;

}  // namespace

NB_MODULE(_kernel, m) {
  m.doc() = "The hot loops of constrain: terms, lazy automaton, vocabulary trie, masks.";
  limit_error = PyErr_NewException("constrain._kernel.LimitError", PyExc_RuntimeError, nullptr);
  m.attr("LimitError") = nb::handle(limit_error);
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const LimitError& e) {
      nb::object args = nb::make_tuple(e.limit, e.what());
      PyErr_SetObject(limit_error, args.ptr());
    }
  });

  nb::class_<Vocab>(m, "Vocab")
      .def("__init__",
           [](Vocab* self, const std::vector<nb::bytes>& tokens, std::vector<u32> ends) {
             std::vector<std::string> texts;
             texts.reserve(tokens.size());
             for (auto& t : tokens) texts.emplace_back(view(t));
             nb::gil_scoped_release release;
             new (self) Vocab(std::move(texts), std::move(ends));
           })
      .def_prop_ro("size", &Vocab::size)
      .def_prop_ro("trie_nodes", [](const Vocab& v) { return v.trie().size(); })
      .def_prop_ro("whole_tokens", &Vocab::whole_tokens)
      .def_prop_ro("alphabet", [](const Vocab& v) { return listed(v.alphabet()); })
      .def("has_longer",
           [](const Vocab& v, const nb::bytes& text) {  // some token begins with `text` and goes on
             const TrieNode* n = &v.trie().node(0);
             for (char c : view(text))
               if (!(n = v.trie().find(*n, static_cast<u8>(c)))) return false;
             return n->count > 0;
           })
      .def("set_split_limit", &Vocab::set_split_limit)
      .def_prop_ro("split_bytes", &Vocab::split_bytes);

  nb::class_<Compiled>(m, "Grammar")
      .def("__init__",
           [](Compiled* self, const nb::bytes& alphabet, u32 terms, u32 states, u32 liveness, u32 depth) {
             Limits limits;
             if (terms) limits.terms = terms;
             if (states) limits.states = states;
             if (liveness) limits.liveness = liveness;
             if (depth) limits.depth = depth;
             new (self) Compiled(byte_set(alphabet), limits);
           },
           "alphabet"_a, "terms"_a = 0, "states"_a = 0, "liveness"_a = 0, "depth"_a = 0)
      // regular terms
      .def("bytes", [](Compiled& g, const nb::bytes& set) { return g.automaton.terms.bytes(byte_set(set)); })
      .def("literal", [](Compiled& g, const nb::bytes& t) { return g.automaton.terms.literal(view(t)); })
      .def("literals",
           [](Compiled& g, const std::vector<nb::bytes>& list) {
             std::vector<std::string> texts;
             for (auto& t : list) texts.emplace_back(view(t));
             return g.automaton.terms.literals(std::move(texts));
           })
      .def("spelled", [](Compiled& g, const nb::bytes& t, u8 e) { return g.automaton.terms.spelled(view(t), Encoding{e}); })
      .def("encoded",
           [](Compiled&, const nb::bytes& t) { return to_bytes(encode_json_string(view(t))); })
      .def("character",
           [](Compiled& g, const std::vector<u32>& flat, u8 e) {
             std::vector<std::pair<u32, u32>> ranges;
             for (size_t i = 0; i + 1 < flat.size(); i += 2) ranges.push_back({flat[i], flat[i + 1]});
             return g.automaton.terms.character(ranges, Encoding{e});
           })
      .def("any_text", [](Compiled& g, u8 e) { return g.automaton.terms.any_text(Encoding{e}); })
      .def("cat", [](Compiled& g, Term a, Term b) { return g.automaton.terms.cat(a, b); })
      .def("alt", [](Compiled& g, std::vector<Term> v) { return g.automaton.terms.alt(std::move(v)); })
      .def("conj", [](Compiled& g, std::vector<Term> v) { return g.automaton.terms.conj(std::move(v)); })
      .def("complement", [](Compiled& g, Term t) { return g.automaton.terms.complement(t); })
      .def("repeat", [](Compiled& g, Term t, u32 lo, u32 hi) { return g.automaton.terms.repeat(t, lo, hi); })
      .def("decimal", [](Compiled& g, u64 c, u32 s) { return g.automaton.terms.decimal(c, s); })
      .def("adopt",
           [](Compiled& g, Compiled& other, Term t) {
             return locked_without_gil(other, [&] { return g.automaton.terms.adopt(other.automaton.terms, t); });
           })
      // grammar terms
      .def("lexeme", [](Compiled& g, Term t) { return g.automaton.lexeme(t); })
      .def("sequence", [](Compiled& g, std::vector<Gram> v) { return g.automaton.sequence(std::move(v)); })
      .def("choice", [](Compiled& g, std::vector<Gram> v) { return g.automaton.choice(std::move(v)); })
      .def("rule", [](Compiled& g) { return g.automaton.rule(); })
      .def("define", [](Compiled& g, Gram r, Gram b) { g.automaton.define(r, b); })
      .def("repetition",
           [](Compiled& g, Gram item, Gram sep, u32 lo, u32 hi) { return g.automaton.repetition(item, sep, lo, hi); })
      .def("members",
           [](Compiled& g, const std::vector<nb::bytes>& names, const std::vector<Gram>& values,
              const std::vector<bool>& required, const std::vector<Term>& bodies, const std::vector<Gram>& class_values,
              const std::vector<Term>& mark, bool any_order, u32 lo, u32 hi, u8 encoding, const std::vector<Ways>& ways,
              const std::vector<Ways>& class_ways, const Conditions& conditions) {
             MembersDef d;
             for (size_t i = 0; i < names.size(); ++i)
               d.members.push_back({std::string(view(names[i])), values[i], bool(required[i]), ways_of(ways[i])});
             for (size_t i = 0; i < bodies.size(); ++i)
               d.classes.push_back({bodies[i], class_values[i], ways_of(class_ways[i])});
             d.counting = counting_of(conditions);
             d.mark = {mark[0], mark[1], mark[2], mark[3], mark[4]};
             d.any_order = any_order;
             d.min_count = lo;
             d.max_count = hi;
             d.encoding = Encoding{encoding};
             return g.automaton.members(std::move(d));
           })
      .def("items",
           [](Compiled& g, std::vector<Gram> prefix, Gram rest, const std::vector<Term>& mark, u32 lo, u32 hi, bool unique,
              u8 encoding, bool numbers_any, const std::vector<Ways>& prefix_ways, const Ways& rest_ways,
              const Conditions& conditions) {
             ItemsDef d;
             d.prefix = std::move(prefix);
             d.rest = rest;
             d.counting = counting_of(conditions);
             for (const Ways& ways : prefix_ways) d.prefix_ways.push_back(ways_of(ways));
             d.rest_ways = ways_of(rest_ways);
             d.mark = {mark[0], mark[1], mark[2], kEpsilon, kEpsilon};
             d.min_count = lo;
             d.max_count = hi;
             d.unique = unique;
             d.encoding = Encoding{encoding};
             d.numbers_any = numbers_any;
             return g.automaton.items(std::move(d));
           })
      .def("set_unique", [](Compiled& g, Gram items, const std::vector<Automaton::Parts>& places) { g.automaton.set_unique(items, places); })
      .def("without_exponents", [](Compiled& g, Term t) { return g.automaton.without_exponents(t); })
      .def("set_deadline",
           [](Compiled& g, double seconds) {
             g.automaton.terms.deadline.at =
                 seconds <= 0 ? Deadline::Clock::time_point::max()
                              : Deadline::Clock::now() + std::chrono::duration_cast<Deadline::Clock::duration>(
                                                             std::chrono::duration<double>(seconds));
           })
      .def("finish", [](Compiled& g, Gram start) { locked_without_gil(g, [&] { g.automaton.finish(start); }); })
      .def("is_alive", [](Compiled& g, Gram x) { return g.automaton.is_alive(x); })
      .def("use",
           [](Compiled& g, std::shared_ptr<Vocab> v, size_t limit) {  // whether tokens can spell any text at all
             g.use(std::move(v), limit);
             return locked_without_gil(g, [&] { return g.start_is_alive(); });
           })
      // questions about regular terms
      .def("alive", [](Compiled& g, Term t) { return locked_without_gil(g, [&] { return g.automaton.terms.alive(t); }); })
      .def("matches",
           [](Compiled& g, Term t, const nb::bytes& b) { return locked(g, [&] { return g.automaton.terms.matches(t, view(b)); }); })
      .def("shortest", [](Compiled& g, Term t) { return to_bytes(locked(g, [&] { return g.automaton.terms.shortest(t); })); })
      .def("shortest_length", [](Compiled& g, Term t) { return locked(g, [&] { return g.automaton.terms.shortest_length(t); }); })
      .def("cardinality",
           [](Compiled& g, Term t, u64 limit) { return locked_without_gil(g, [&] { return g.automaton.terms.cardinality(t, limit); }); })
      // recognising
      .def_prop_ro("start", [](Compiled& g) { return g.automaton.start(); })
      .def("step", [](Compiled& g, State s, u8 b) { return locked(g, [&] { return g.automaton.step(s, b); }); })
      .def("feed",
           [](Compiled& g, State s, const nb::bytes& text) {
             // (state, bytes read): stops before the first byte that may not follow
             auto v = view(text);
             size_t i = 0;
             locked_without_gil(g, [&] {
               for (; i < v.size(); ++i) {
                 State next = g.automaton.step(s, static_cast<u8>(v[i]));
                 if (next == kDead) break;
                 s = next;
               }
             });
             return nb::make_tuple(s, i);
           })
      .def("accepts", [](Compiled& g, State s) { return locked(g, [&] { return g.automaton.accepts(s); }); })
      .def("legal", [](Compiled& g, State s) { return listed(locked(g, [&] { return g.automaton.legal_bytes(s); })); })
      .def("cost", [](Compiled& g, State s) { return locked_without_gil(g, [&] { return g.automaton.cost(s); }); })
      .def("completion", [](Compiled& g, State s) { return to_bytes(locked_without_gil(g, [&] { return g.automaton.completion(s); })); })
      .def("stats", [](Compiled& g) {
        nb::dict d;
        locked(g, [&] {
          d["terms"] = g.automaton.terms.size();
          d["states"] = g.automaton.state_count();
          d["bytes"] = g.automaton.memory();
          if (g.masks) {
            d["mask_bytes"] = g.masks->cached_bytes();
            d["masks_computed"] = g.masks->counters.computed;
            d["masks_cached"] = g.masks->counters.cached;
            d["masks_evicted"] = g.masks->counters.evicted;
            d["nodes_visited"] = g.masks->counters.visited;
            d["splits"] = g.masks->counters.splits;
          }
          return 0;
        });
        return d;
      });

  nb::class_<Matcher>(m, "Matcher")
      .def("__init__", [](Matcher* self, std::shared_ptr<Compiled> g) { new (self) Matcher(std::move(g)); })
      .def("fork", [](const Matcher& x) { return Matcher(x); })
      .def("fill", [](Matcher& x, Row row) { fill(x, row_of(x.grammar(), row)); }, nb::arg().noconvert())  // never into a copy
      .def("fill_stepwise",
           [](Matcher& x, Row row) {
             u32* to = row_of(x.grammar(), row);
             locked_without_gil(x.grammar(), [&] { x.grammar().masks->fill_stepwise(x.state(), to); });
           },
           nb::arg().noconvert())
      .def("fill_at", [](Matcher& x, size_t address) { fill(x, reinterpret_cast<u32*>(address)); })
      .def("advance", [](Matcher& x, u32 t) { return locked(x.grammar(), [&] { return x.advance(t); }); })
      .def("rollback", [](Matcher& x, size_t n) { x.rollback(n); })
      .def("forced", [](Matcher& x, size_t limit) { return to_bytes(locked_without_gil(x.grammar(), [&] { return x.forced(limit); })); })
      .def("completion",
           [](Matcher& x) {  // (text, tokens or nothing)
             std::vector<u32> tokens;
             std::string text = locked_without_gil(x.grammar(), [&] { return x.completion(tokens); });
             return nb::make_tuple(to_bytes(text), tokens);
           })
      .def("cost", [](Matcher& x) { return locked_without_gil(x.grammar(), [&] { return x.grammar().automaton.cost(x.state()); }); })
      .def("legal", [](Matcher& x) { return listed(locked(x.grammar(), [&] { return x.grammar().automaton.legal_bytes(x.state()); })); })
      .def_prop_ro("state", &Matcher::state)
      .def_prop_ro("is_complete", [](Matcher& x) { return locked(x.grammar(), [&] { return x.complete(); }); })
      .def_prop_ro("is_terminated", &Matcher::terminated)
      .def_prop_ro("tokens", &Matcher::tokens)
      .def_prop_ro("text", [](const Matcher& x) { return to_bytes(x.text()); });
}
